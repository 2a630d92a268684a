import { afterEach, describe, expect, it, vi } from 'vitest';
import { proofReadEnvironment } from '../../src/git/environment.ts';
import { proofCommands } from '../../src/git/proof-commands.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the environment of proof reads', () => {
  it('R20: nothing of our own environment reaches Git', () => {
    vi.stubEnv('GIT_DIR', '/elsewhere');
    vi.stubEnv('GIT_CONFIG_COUNT', '1');
    vi.stubEnv('SUDO_UID', '1000');
    vi.stubEnv('LD_PRELOAD', '/tmp/x.so');
    vi.stubEnv('PATH', '/tmp/evil');
    const environment = proofReadEnvironment({});
    for (const name of ['GIT_DIR', 'GIT_CONFIG_COUNT', 'SUDO_UID', 'LD_PRELOAD', 'NODE_OPTIONS']) {
      expect(environment).not.toHaveProperty(name);
    }
    expect(environment['PATH']).not.toContain('evil');
    expect(environment).toMatchObject({
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ALLOW_PROTOCOL: '',
    });
  });

  it('pins all three directories or none', () => {
    const pins = { gitDirectory: '/proc/1/fd/3', commonDirectory: '/proc/1/fd/4', workTree: '/proc/1/fd/5' };
    expect(proofReadEnvironment({ pins })).toMatchObject({
      GIT_DIR: '/proc/1/fd/3',
      GIT_COMMON_DIR: '/proc/1/fd/4',
      GIT_WORK_TREE: '/proc/1/fd/5',
    });
    expect(Object.keys(proofReadEnvironment({}))).not.toContain('GIT_WORK_TREE');
  });
});

describe('proof commands', () => {
  const place = { directory: '/proc/1/fd/5' };

  it.each(['--upload-pack=touch x', '-x', 'HEAD', 'refs/heads/a b', 'refs/../x', 'main'])(
    'R20: %j cannot become an argument where a full ref belongs',
    (ref) => {
      expect(() => proofCommands.existingRefs(place, [ref])).toThrow(TypeError);
    },
  );

  it('R20: a symbolic ref is HEAD or a full ref', () => {
    expect(() => proofCommands.symbolicRef(place, 'refs/--help /x')).toThrow(TypeError);
    expect(proofCommands.symbolicRef(place, 'HEAD').arguments.at(-1)).toBe('HEAD');
  });
});
