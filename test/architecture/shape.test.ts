import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, projectRoot, readSources } from './source-files.ts';

const longestFile = 400;
const sources = readSources();
const code = [
  ...sources.map(({ path }) => `src/${path}`),
  ...filesBelow('native', /\.(cc|h)$/),
  ...filesBelow('test', /\.(ts|mjs)$/),
];
const texts = [...code, ...filesBelow('scripts', /./), ...filesBelow('docs', /\.(md|json)$/)];

function read(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}

describe('files', () => {
  it('hold one idea: none is longer than 400 lines', () => {
    const long = code
      .map((path) => ({ path, lines: read(path).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > longestFile);
    expect(long).toEqual([]);
  });

  it('are named after what they hold, in kebab-case, never utils, common, helpers or types', () => {
    const shape = /^[a-z0-9]+(-[a-z0-9]+)*$/;
    const empty = /^(utils?|common|helpers?|types?|misc|shared|lib)$/;
    const parts = sources.flatMap(({ path }) => path.replace(/\.(cjs|ts)$/, '').split('/'));
    expect(parts.filter((part) => !shape.test(part) || empty.test(part))).toEqual([]);
  });

  it('export by name only', () => {
    const offenders = sources.filter(({ text }) => /^export default\b/m.test(text));
    expect(offenders.map(({ path }) => path)).toEqual([]);
  });

  it('name no path or host of the machine they were written on', () => {
    const traces = [projectRoot, hostname()].filter((trace) => trace.length > 6 && trace !== 'localhost');
    const offenders = texts.flatMap((path) =>
      traces.filter((trace) => read(path).includes(trace)).map((trace) => `${path}: ${trace}`),
    );
    expect(offenders).toEqual([]);
  });

  it('leave nothing for later', () => {
    const later = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck)|\bas any\b|\.(only|todo)\(/;
    const offenders = code.filter(
      (path) => path !== 'test/architecture/shape.test.ts' && later.test(read(path)),
    );
    expect(offenders).toEqual([]);
  });
});
