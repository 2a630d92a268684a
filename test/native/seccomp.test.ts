import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { KernelReport } from '../../src/native/binding.ts';
import { openat2Hint } from '../../src/native/index.ts';
import { testAddonPath, testBinding } from '../support/test-binding.ts';
import { Room } from './room.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, 'forbid_openat2.c');
const reader = join(import.meta.dirname, 'reads-under-filter.mjs');
const headers: string = createRequire(import.meta.url)('node-api-headers').include_dir;

interface Report {
  readonly opened: unknown;
  readonly probe: KernelReport;
  readonly calls: Readonly<Record<string, unknown>>;
}

const errnos = [
  ['EPERM', constants.errno.EPERM],
  ['ENOSYS', constants.errno.ENOSYS],
] as const;

describe('a seccomp filter on openat2', () => {
  let program: string;
  let addon: string;

  beforeAll(async () => {
    const place = await mkdtemp(join(tmpdir(), 'wa-seccomp-'));
    program = join(place, 'forbid_openat2');
    addon = join(place, 'forbid_openat2.node');
    const strict = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-O2'];
    await run('cc', [...strict, '-DFORBID_PROGRAM', '-o', program, source]);
    await run('cc', [...strict, '-shared', '-fPIC', `-I${headers}`, '-o', addon, source]);
    return () => rm(place, { recursive: true });
  });

  it.for(errnos)(
    'R16: from the start: %s is reported by the probe and by every call',
    async ([code, errno]) => {
      const { path } = await Room.open();
      const call = [String(errno), process.execPath, reader, testAddonPath, path];
      const { stdout } = await run(program, call);
      const [report] = JSON.parse(stdout) as [Report];
      expect(report.probe.openat2).toEqual({ available: false, code });
      expect(report.probe.resolveCached).toBe(false);
      expect([report.opened, report.calls['openRoot']]).toEqual([
        { code, syscall: 'openat2' },
        { code, syscall: 'openat2' },
      ]);
    },
  );

  it.for(errnos)(
    'R16: that comes after a good probe: %s is the answer of every call then',
    async ([code, errno]) => {
      const room = await Room.open();
      room.write('f');
      const { stdout } = await run(process.execPath, [
        reader,
        testAddonPath,
        room.path,
        addon,
        String(errno),
      ]);
      const [before, after] = JSON.parse(stdout) as [Report, Report];
      expect(before.probe.openat2).toEqual({ available: true, code: null });
      expect([...new Set(Object.values(before.calls))]).toEqual(['ok']);
      expect(after.probe.openat2).toEqual({ available: false, code });
      const failed = { code, syscall: 'openat2' };
      expect(after.calls).toEqual({
        openRoot: failed,
        read: failed,
        readCached: failed,
        list: failed,
        leadsHere: failed,
      });
    },
  );

  it('R16: the hint names what was seen to do this', () => {
    expect(openat2Hint('ENOSYS')).toMatch(/Linux 5\.6.*gVisor.*RestrictSUIDSGID/);
    expect(openat2Hint('EPERM')).toMatch(/Docker.*libseccomp.*RestrictSUIDSGID/);
  });
});

describe('the probe', () => {
  it('R16: reports what this kernel offers, without leaving anything open', () => {
    const before = testBinding.openHandles();
    const report = testBinding.probe();
    expect(report).toMatchObject({
      openat2: { available: true, code: null },
      resolveCached: true,
      inotify: true,
    });
    expect(testBinding.openHandles()).toBe(before);
  });
});
