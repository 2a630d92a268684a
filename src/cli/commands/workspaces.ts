import { resolve } from 'node:path';
import { AuthorityError, type Service, type WorkspaceRow, type Workspaces } from '../../index.ts';
import { type Command, type Invocation, textOption } from '../command.ts';
import { withService } from './with-service.ts';

export const workspacesAdd: Command = {
  name: 'workspaces add',
  usage: 'PATH [--title TEXT] [--allow-mounts]',
  summary: 'Register a directory, and pin its identity.',
  help: [
    '  --title TEXT    shown to people',
    '  --allow-mounts  let paths cross mount points below the directory',
  ],
  options: { title: { type: 'string' }, 'allow-mounts': { type: 'boolean' } },
  positionals: [1, 1],
  run: (invocation) =>
    changeOne(invocation, 'added', (workspaces, path) => {
      const title = textOption(invocation.values, 'title');
      const allowMounts = invocation.values['allow-mounts'] === true;
      return workspaces.add(path, { ...(title === undefined ? {} : { title }), allowMounts });
    }),
};

export const workspacesRemove: Command = {
  name: 'workspaces remove',
  usage: 'PATH',
  summary: 'Take a directory off the registry; nothing below it is touched.',
  positionals: [1, 1],
  run: (invocation) => changeOne(invocation, 'removed', (workspaces, path) => workspaces.remove(path)),
};

export const workspacesConfirm: Command = {
  name: 'workspaces confirm',
  usage: 'PATH',
  summary: 'Accept what stands under the path now as the registered directory.',
  positionals: [1, 1],
  run: (invocation) => changeOne(invocation, 'confirmed', (workspaces, path) => workspaces.confirm(path)),
};

export const workspacesList: Command = {
  name: 'workspaces list',
  usage: '',
  summary: 'List the registered directories.',
  positionals: [0, 0],
  run: (invocation) =>
    withService(invocation, async (service) => {
      const rows = await registryOf(service).list();
      const { terminal, json } = invocation;
      if (json) terminal.print(JSON.stringify({ ok: true, items: rows.map(present) }));
      else
        for (const row of rows) terminal.print(row.title === null ? row.path : `${row.path}  (${row.title})`);
      return 0;
    }),
};

async function changeOne(
  invocation: Invocation,
  verb: string,
  change: (workspaces: Workspaces, path: string) => Promise<WorkspaceRow>,
): Promise<number> {
  // People name a directory as their shell does; whether the name is canonical is judged by the service.
  const path = resolve(invocation.positionals[0] as string);
  const row = await withService(invocation, (service) => change(registryOf(service), path));
  const { terminal, json } = invocation;
  terminal.print(json ? JSON.stringify({ ok: true, workspace: present(row) }) : `${verb} ${row.path}`);
  return 0;
}

function registryOf({ workspaces }: Service): Workspaces {
  if (workspaces === null) throw new AuthorityError('not_offered');
  return workspaces;
}

function present({ id, path, title, allowMounts, registeredAt }: WorkspaceRow): object {
  return { id, path, title, allowMounts, registeredAt };
}
