import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as dsh from '../../src/dsh/index.ts';
import * as http from '../../src/http/index.ts';
import * as library from '../../src/index.ts';
import * as native from '../../src/native/index.ts';
import { projectRoot } from './source-files.ts';

const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));

/** Runtime names of each entry point. A name that is added here is a promise; one that goes is a breaking change. */
const entryPoints = [
  {
    path: '.',
    module: library,
    names: [
      'AuthorityError',
      'createGitHubForge',
      'createService',
      'defaultStateDirectory',
      'errorCodes',
      'isAuthorityError',
      'openStandaloneState',
      'parseBeneathPath',
      'version',
    ],
  },
  {
    path: './http',
    module: http,
    names: [
      'createApp',
      'createAppServer',
      'createRouter',
      'createStandaloneAuthentication',
      'defaultLimits',
      'defaultServerLimits',
      'drainServer',
    ],
  },
  {
    path: './native',
    module: native,
    names: [
      'NativeDirectory',
      'NativeFile',
      'authorityErrorOf',
      'codeOf',
      'createNative',
      'deathGuardPath',
      'errorCodeFor',
      'fileFacts',
      'loadBinding',
      'openat2Hint',
      'syscallOf',
      'versionOf',
    ],
  },
  {
    path: './dsh',
    module: dsh,
    names: ['Config', 'apply', 'inject', 'name'],
  },
] as const;

describe('the front doors', () => {
  it('are exactly those of the exports map, all ESM', () => {
    const files = ['./cordis.patch.yml', './package.json'];
    expect(Object.keys(manifest.exports)).toEqual([...entryPoints.map(({ path }) => path), ...files]);
    for (const file of files) expect(manifest.exports[file]).toBe(file);
    expect(manifest.type).toBe('module');
  });

  it.each(entryPoints)('$path leads to a source file, for programs and for types', ({ path }) => {
    const target = manifest.exports[path];
    expect(Object.keys(target)).toEqual(['types', 'default']);
    const source = target.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts');
    expect(existsSync(join(projectRoot, source)), source).toBe(true);
    expect(target.types).toBe(target.default.replace(/\.js$/, '.d.ts'));
  });

  it.each(entryPoints)('$path offers named exports only, and no other than these', ({ module, names }) => {
    const offered = Object.keys(module).sort();
    expect(offered).not.toContain('default');
    expect(offered).toEqual([...names]);
  });

  it('the command leads to a program with a shebang', () => {
    expect(Object.keys(manifest.bin)).toEqual(['workspace-authority']);
    const source = manifest.bin['workspace-authority']
      .replace(/^(\.\/)?dist\//, 'src/')
      .replace(/\.js$/, '.ts');
    expect(readFileSync(join(projectRoot, source), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('the library names its version as the manifest does', () => {
    expect(library.version).toBe(manifest.version);
  });
});
