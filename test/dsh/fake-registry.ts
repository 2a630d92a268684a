import { randomUUID } from 'node:crypto';
import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';

export interface FakeWorkspace {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly sessionIds: string[];
}

/**
 * `ctx.workspaceRegistry`. Facts (host facts 1): `list()` is synchronous and answers in the order of the registry; `create` takes any spelling of a
 * directory, keeps what realpath(3) says and answers with the existing row for a path that has one; `delete` touches nothing on disk; a
 * row that is being created is known to `get` before it is in the order.
 */
export class FakeRegistry {
  readonly entities = new Map<string, FakeWorkspace>();
  order: string[] = [];
  archivedSessionIds: readonly string[] = [];

  list(): readonly FakeWorkspace[] {
    return this.order.map((id) => {
      const entity = this.entities.get(id);
      if (entity === undefined)
        throw new Error(`workspace registry order references missing workspace '${id}'`);
      return entity;
    });
  }

  get(id: string): FakeWorkspace | undefined {
    return this.entities.get(id);
  }

  async create(path: string, title?: string): Promise<FakeWorkspace> {
    const canonical = await realpath(path);
    if (!(await stat(canonical)).isDirectory()) throw new Error('path is not a directory');
    const present = [...this.entities.values()].find((entity) => entity.path === canonical);
    if (present !== undefined) return present;
    return this.put(canonical, title);
  }

  /** A row as `create` makes it, whatever stands under its path. */
  put(path: string, title = basename(path), id: string = randomUUID()): FakeWorkspace {
    const now = new Date().toISOString();
    const entity = { id, path, title, createdAt: now, updatedAt: now, sessionIds: [] };
    this.entities.set(id, entity);
    this.order = [id, ...this.order];
    return entity;
  }

  async delete(id: string): Promise<boolean> {
    this.order = this.order.filter((other) => other !== id);
    return this.entities.delete(id);
  }
}
