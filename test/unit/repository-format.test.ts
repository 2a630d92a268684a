import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { judgeConfiguration } from '../../src/proof/repository-format.ts';

const plain = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n';
const version1 = '[core]\n\trepositoryformatversion = 1\n';

function judge(config: string, worktreeConfig: string | null = null): unknown {
  try {
    return judgeConfiguration(
      Buffer.from(config, 'latin1'),
      worktreeConfig === null ? null : Buffer.from(worktreeConfig, 'latin1'),
    );
  } catch (error) {
    if (isAuthorityError(error) && error.code === 'repository_unsupported') return error.details['reason'];
    throw error;
  }
}

const format = { objectFormat: 'sha1', partialClone: false, worktreeConfig: false };

describe('the format of a repository', () => {
  it.each<readonly [string, string, object]>([
    ['a plain repository', plain, {}],
    ['one without a version', '[core]\n\tbare = false\n', {}],
    ['an empty configuration', '', {}],
    ['noop and preciousObjects', `${version1}[extensions]\nnoop = x\npreciousObjects = true\n`, {}],
    ['a partial clone', `${version1}[extensions]\npartialClone = origin\n`, { partialClone: true }],
    ['a partial clone in version 0', `${plain}[extensions]\npartialClone = origin\n`, { partialClone: true }],
    ['sha256', `${version1}[extensions]\nobjectFormat = sha256\n`, { objectFormat: 'sha256' }],
    ['worktreeConfig', `${plain}[extensions]\nworktreeConfig = true\n`, { worktreeConfig: true }],
    ['worktreeConfig off', `${plain}[extensions]\nworktreeConfig = false\n`, {}],
    ['remotes, branches and identities', `${plain}[remote "o"]\nurl = x\n[user]\nname = n\n`, {}],
    ['a subsection of core', `${plain}[core "x"]\nworktree = /\n`, {}],
  ])('accepts %s', (_, text, difference) => {
    expect(judge(text)).toEqual({ ...format, ...difference });
  });

  it.each<readonly [string, string, string]>([
    ['an include', `${plain}[include]\npath = x\n`, 'config-include'],
    ['an include in odd case', `${plain}[InCluDe]\nPaTH = x\n`, 'config-include'],
    ['an include on the line of its section', `${plain}[include]path=x\n`, 'config-include'],
    ['an include after another section', `${plain}[a][include] path = x\n`, 'config-include'],
    ['an include after a byte order mark', '\xef\xbb\xbf[include]\npath = x\n', 'config-include'],
    ['an include with DOS line ends', '[include]\r\npath = x\r\n', 'config-include'],
    ['an include with quotes and continued lines', '[include]\npath = "x\\\ny"\n', 'config-include'],
    ['an include without a value', '[include]\npath\n', 'config-include'],
    ['an include that follows a continued comment', '# x \\\n[include]\npath = x\n', 'config-include'],
    ['a conditional include', `${plain}[includeIf "gitdir:/"]\npath = x\n`, 'config-include'],
    ['a conditional include of the old form', `${plain}[includeIf.x]\npath = x\n`, 'config-include'],
    ['an include that only looks like one', `${plain}[a]\nb = "[include]"\n`, 'config-include'],
    ['another work tree', `${plain}[core]\nworktree = /x\n`, 'core-worktree'],
    ['another work tree in odd case', '[CORE]\nWorkTree = ..\n', 'core-worktree'],
    ['bare', '[core]\nbare = true\n', 'core-bare'],
    ['bare without a value', '[core]\nbare\n', 'core-bare'],
    ['bare, first no then yes', '[core]\nbare = false\nbare = 1\n', 'core-bare'],
    ['bare, first yes then no', '[core]\nbare = yes\nbare = false\n', 'core-bare'],
    ['bare with a word Git does not read', '[core]\nbare = maybe\n', 'core-bare'],
    ['an unknown version', '[core]\nrepositoryformatversion = 2\n', 'format-version'],
    ['a version that is no number', '[core]\nrepositoryformatversion = one\n', 'format-version'],
    ['a version without a value', '[core]\nrepositoryformatversion\n', 'format-version'],
    ['an unknown extension', `${version1}[extensions]\nzork = 1\n`, 'extension'],
    ['an unknown extension in version 0', `${plain}[extensions]\nzork = 1\n`, 'extension'],
    ['an extension with a subsection', `${version1}[extensions "x"]\nnoop = 1\n`, 'extension'],
    ['an extension of the old form', `${version1}[extensions.x]\nnoop = 1\n`, 'extension'],
    ['an object format in version 0', `${plain}[extensions]\nobjectFormat = sha1\n`, 'extension'],
    ['an unknown object format', `${version1}[extensions]\nobjectFormat = md5\n`, 'extension'],
    ['reftable', `${version1}[extensions]\nrefStorage = reftable\n`, 'reftable'],
    [
      'relative worktree links',
      `${version1}[extensions]\nrelativeWorktrees = true\n`,
      'relative-worktree-links',
    ],
    ['text that cannot be read', '[core\n', 'config-malformed'],
  ])('R04: refuses %s', (_, text, reason) => {
    expect(judge(text)).toBe(reason);
  });

  it.each<readonly [string, string, string]>([
    ['an include', '[include]\npath = x\n', 'config-include'],
    ['another work tree', '[core]\nworktree = /x\n', 'core-worktree'],
    ['bare', '[core]\nbare = true\n', 'core-bare'],
    ['an extension', '[extensions]\nnoop = 1\n', 'extension'],
    ['a version', '[core]\nrepositoryformatversion = 1\n', 'extension'],
    ['text that cannot be read', 'x\n', 'config-malformed'],
  ])('R04: refuses %s in config.worktree, whether or not Git reads it', (_, text, reason) => {
    expect(judge(plain, text)).toBe(reason);
  });

  it('accepts sparse checkout settings in config.worktree', () => {
    expect(judge(`${plain}[extensions]\nworktreeConfig = true\n`, '[core]\nsparseCheckout = true\n')).toEqual(
      {
        ...format,
        worktreeConfig: true,
      },
    );
  });
});
