import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from './machine.ts';

const listed = readFileSync(join(projectRoot, 'native/sources.txt'), 'utf8').trimEnd().split('\n');

/** The C++ files that CMake compiles into the addon, as CMake itself says. */
function cmakeSources(): string[] {
  const build = mkdtempSync(join(tmpdir(), 'wa-cmake-'));
  try {
    execFileSync('cmake', ['-S', projectRoot, '-B', build], { stdio: 'pipe' });
    const commands = JSON.parse(readFileSync(join(build, 'compile_commands.json'), 'utf8')) as {
      file: string;
      output?: string;
      command: string;
    }[];
    return commands
      .filter(({ command }) => command.includes('workspace_authority.dir'))
      .map(({ file }) => file.slice(projectRoot.length + 1));
  } finally {
    rmSync(build, { recursive: true });
  }
}

/** The same for node-gyp: binding.gyp is a Python literal, and Python evaluates its commands the way gyp does. */
function gypSources(): string[] {
  const program = `
import ast, json, subprocess
target = next(t for t in ast.literal_eval(open('binding.gyp').read())['targets'] if t['target_name'] == 'workspace_authority')
linux = next(c[1] for c in target['conditions'] if "linux" in c[0])
words = []
for source in target.get('sources', []) + linux.get('sources', []):
    command = source.startswith('<!@(') and source[4:-1]
    words += subprocess.check_output(command, shell=True, text=True).split() if command else [source]
print(json.dumps(words))`;
  return JSON.parse(
    execFileSync('python3', ['-c', program], { cwd: projectRoot, encoding: 'utf8' }),
  ) as string[];
}

describe('the two builds of the addon', () => {
  it('compile the same list of sources', () => {
    expect(cmakeSources().toSorted()).toEqual(gypSources().toSorted());
  });

  it('compile every source there is, each once', () => {
    const programs = readFileSync(join(projectRoot, 'CMakeLists.txt'), 'utf8');
    const found = readdirSync(join(projectRoot, 'native'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.cc'))
      .map((name) => `native/${name}`)
      // Programs of their own are built beside the addon, by name.
      .filter((path) => listed.includes(path) || !programs.includes(path));
    expect(listed.toSorted()).toEqual(found.toSorted());
  });
});
