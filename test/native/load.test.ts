import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { describe, expect, it } from 'vitest';
import { AuthorityError } from '../../src/errors/index.ts';
import {
  createNative,
  deathGuardPath,
  errorCodeFor,
  loadBinding,
  type NativeBinding,
} from '../../src/native/index.ts';
import { testAddonPath } from '../support/test-binding.ts';
import { temporaryDirectory } from './room.ts';

const run = promisify(execFile);

function refusalOf(call: () => unknown): AuthorityError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(AuthorityError);
    return error as AuthorityError;
  }
  throw new Error('nothing was thrown');
}

/** A package as it is installed: with the addon in one of the places where it may be. */
function packageWith(place: string): string {
  const root = temporaryDirectory();
  const target = join(root, place);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(testAddonPath, target);
  return root;
}

const architecture = process.arch;
const prebuilt = `prebuilds/workspace_authority-linux-${architecture}/node-napi-v8.node`;

describe('loading the addon', () => {
  it('finds what was built here, and what came prebuilt', () => {
    for (const place of ['build/Release/workspace_authority.node', prebuilt]) {
      const packageRoot = packageWith(place);
      const binding = loadBinding({ packageRoot, environment: {} });
      expect(binding.probe().openat2.available).toBe(true);
      expect(loadBinding({ packageRoot, environment: {} })).toBe(binding);
      const beside = join(packageRoot, dirname(place), 'death-guard');
      expect(deathGuardPath({ packageRoot, environment: {} })).toBe(beside);
    }
  });

  it('takes the one that the environment names', () => {
    const named = join(packageWith('somewhere/addon.node'), 'somewhere/addon.node');
    const place = { packageRoot: temporaryDirectory(), environment: { WORKSPACE_AUTHORITY_ADDON: named } };
    expect(loadBinding(place).probe().openat2.available).toBe(true);
    expect(deathGuardPath(place)).toBe(join(dirname(named), 'death-guard'));
  });

  it('R41: says with one code that there is none, that its name is no absolute path, or why it does not load', () => {
    const packageRoot = temporaryDirectory();
    const broken = join(packageRoot, 'broken.node');
    writeFileSync(broken, 'no addon');
    const cases = [
      { environment: {}, reason: 'neither built nor prebuilt' },
      {
        environment: { WORKSPACE_AUTHORITY_ADDON: 'relative.node' },
        reason: 'WORKSPACE_AUTHORITY_ADDON is not an absolute path',
      },
      { environment: { WORKSPACE_AUTHORITY_ADDON: broken }, reason: 'not loadable' },
      {
        environment: { WORKSPACE_AUTHORITY_ADDON: join(packageRoot, 'missing.node') },
        reason: 'not loadable',
      },
    ];
    for (const { environment, reason } of cases) {
      const { code, details, status } = refusalOf(() => loadBinding({ packageRoot, environment }));
      expect([code, details, status]).toEqual(['native_addon_missing', { reason }, 503]);
    }
    const { cause } = refusalOf(() =>
      loadBinding({ packageRoot, environment: { WORKSPACE_AUTHORITY_ADDON: broken } }),
    );
    expect(cause).toBeInstanceOf(Error);
  });

  it('a small result is memory that cannot be taken away from the others', async () => {
    const packageRoot = packageWith('build/Release/workspace_authority.node');
    const root = temporaryDirectory();
    writeFileSync(join(root, 'f'), 'content');
    const native = createNative(loadBinding({ packageRoot, environment: {} }));
    using directory = await native.openRoot(root);
    const handle = await loadBinding({ packageRoot, environment: {} }).openRoot(root, {});
    const read = () => handle.readCached('f', 100, new BigInt64Array(9), null);
    // A file that changed a moment ago is left to the pool.
    await expect.poll(read, { interval: 20, timeout: 10_000 }).not.toBeUndefined();
    const bytes = read() as Uint8Array;
    expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.byteLength);
    // Node 20 passes over such memory and copies it; later ones throw.
    expect(attempt(() => structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] }))).toBeDefined();
    expect(bytes.byteLength).toBe(7);
    expect(Buffer.from(bytes).toString()).toBe('content');
    expect(Buffer.from(read() as Uint8Array).toString()).toBe('content');
    expect(Buffer.from((await directory.read('f', { limit: 100 })).bytes).toString()).toBe('content');
    handle.close();
  });
});

describe('a platform other than Linux', () => {
  const binding = loadBinding({ platform: 'darwin' });

  it('R16: answers platform_unsupported to every call of the binding', async () => {
    const calls: Record<keyof NativeBinding, () => unknown> = {
      probe: () => binding.probe(),
      openRoot: () => binding.openRoot('/', {}),
      createGuard: () => binding.createGuard({} as never, { closedShape: [], closedIdentities: [] }),
      openHandles: () => 0,
    };
    expect(Object.keys(binding).sort()).toEqual(Object.keys(calls).sort());
    expect(binding.openHandles()).toBe(0);
    for (const name of ['probe', 'createGuard'] as const) {
      const { code, details } = refusalOf(calls[name]);
      expect([code, details]).toEqual(['platform_unsupported', { platform: 'darwin' }]);
    }
    await expect(binding.openRoot('/', {})).rejects.toMatchObject({
      code: 'platform_unsupported',
      status: 503,
    });
    await expect(createNative(binding).openRoot('/')).rejects.toMatchObject({ code: 'platform_unsupported' });
    expect(refusalOf(() => createNative(binding).probe()).code).toBe('platform_unsupported');
    expect(refusalOf(() => deathGuardPath({ platform: 'win32' })).code).toBe('platform_unsupported');
  });

  it('R16: imports, though there is no addon to be found', async () => {
    const place = temporaryDirectory();
    await build({
      logLevel: 'silent',
      build: {
        ssr: join(import.meta.dirname, '../../src/native/index.ts'),
        outDir: place,
        emptyOutDir: false,
        rollupOptions: { output: { entryFileNames: 'native.mjs' } },
      },
      ssr: { noExternal: true },
    });
    const program = `
      Object.defineProperty(process, 'platform', { value: 'win32' });
      const native = await import(${JSON.stringify(join(place, 'native.mjs'))});
      try { native.loadBinding().probe(); } catch (error) { console.log(error.code); }`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout.trim()).toBe('platform_unsupported');
  });
});

describe('codes for failures of the system', () => {
  it("R41: every failure has one, and an unknown one is the storage's", () => {
    const cases = [
      ['ENOENT', 'openat2', 'not_found'],
      ['ENOTDIR', 'openat2', 'not_found'],
      ['EXDEV', 'openat2', 'path_outside_workspace'],
      ['EACCES', 'openat2', 'permission_denied'],
      ['EPERM', 'openat2', 'permission_denied'],
      ['ENOSYS', 'openat2', 'kernel_capability_missing'],
      ['ENOSYS', 'renameat2', 'storage_failed'],
      ['EAGAIN', 'openat2', 'busy'],
      ['EMFILE', 'openat2', 'too_many_open_files'],
      ['ENOSPC', 'pwrite64', 'no_space'],
      ['EDQUOT', 'pwrite64', 'no_space'],
      ['EIO', 'pread64', 'storage_failed'],
      ['EROFS', 'openat2', 'file_system_read_only'],
      ['ENAMETOOLONG', null, 'invalid_path'],
      ['EINVAL', null, 'invalid_path'],
      ['EINVAL', 'renameat2', 'storage_failed'],
      ['WA_NOT_REGULAR', null, 'not_regular_file'],
      ['WA_CLOSED_DIRECTORY', null, 'administrative_path'],
      ['ENOTRECOVERABLE', 'read', 'storage_failed'],
    ] as const;
    expect(cases.map(([errno, syscall]) => errorCodeFor(errno, syscall))).toEqual(
      cases.map(([, , code]) => code),
    );
  });
});

function attempt(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}
