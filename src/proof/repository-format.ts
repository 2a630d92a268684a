import { type ConfigEntry, ConfigSyntaxError, parseGitConfig } from './git-config.ts';
import { unsupported } from './unsupported.ts';

/** What decides who can read a repository. */
export interface RepositoryFormat {
  readonly objectFormat: 'sha1' | 'sha256';
  readonly partialClone: boolean;
  /** Whether Git reads `config.worktree` too. */
  readonly worktreeConfig: boolean;
}

/**
 * Judges the bytes of `config` and, when there is one, `config.worktree`. `config.worktree` is held to the same rules whether or not
 * the extension that makes Git read it is on.
 * @throws `repository_unsupported`
 */
export function judgeConfiguration(config: Uint8Array, worktreeConfig: Uint8Array | null): RepositoryFormat {
  const entries = readEntries(config, 'config');
  const worktreeEntries = worktreeConfig === null ? [] : readEntries(worktreeConfig, 'config.worktree');
  for (const entry of [...entries, ...worktreeEntries]) refuseRedirection(entry);
  for (const entry of worktreeEntries) {
    if (decidesFormat(entry)) throw unsupported('extension', { extension: nameOf(entry) });
  }
  return formatOf(entries);
}

function readEntries(bytes: Uint8Array, file: string): ConfigEntry[] {
  // Looked for in the raw bytes too: not even a difference between our grammar and Git's may hide an include.
  if (/\[\s*include/i.test(Buffer.from(bytes).toString('latin1')))
    throw unsupported('config-include', { file });
  try {
    return parseGitConfig(bytes);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw unsupported('config-malformed', { file, line: error.line });
  }
}

/** Settings that let a repository be somewhere else, or read files that were not looked at. */
function refuseRedirection(entry: ConfigEntry): void {
  if (/^include(?:if)?(?:\.|$)/.test(entry.section)) throw unsupported('config-include');
  if (entry.section !== 'core' || entry.subsection !== null) return;
  if (entry.key === 'worktree') throw unsupported('core-worktree');
  if (entry.key === 'bare' && !isFalse(entry.value)) throw unsupported('core-bare');
}

function decidesFormat(entry: ConfigEntry): boolean {
  return /^extensions(?:\.|$)/.test(entry.section) || isFormatVersion(entry);
}

function formatOf(entries: readonly ConfigEntry[]): RepositoryFormat {
  const version = versionOf(entries);
  let objectFormat: 'sha1' | 'sha256' = 'sha1';
  let partialClone = false;
  let worktreeConfig = false;
  for (const entry of entries) {
    if (!/^extensions(?:\.|$)/.test(entry.section)) continue;
    const extension = nameOf(entry);
    switch (extension) {
      case 'extensions.noop':
      case 'extensions.preciousobjects':
        break;
      case 'extensions.worktreeconfig':
        worktreeConfig = !isFalse(entry.value);
        break;
      case 'extensions.partialclone':
        partialClone = true;
        break;
      case 'extensions.objectformat':
        // Git refuses this extension in version 0.
        if (version === 0 || !isObjectFormat(entry.value)) throw unsupported('extension', { extension });
        objectFormat = entry.value;
        break;
      case 'extensions.relativeworktrees':
        throw unsupported('relative-worktree-links');
      case 'extensions.refstorage':
        throw unsupported('reftable');
      default:
        throw unsupported('extension', { extension });
    }
  }
  return { objectFormat, partialClone, worktreeConfig };
}

/** An absent version is 0 (gitrepository-layout(5)). */
function versionOf(entries: readonly ConfigEntry[]): 0 | 1 {
  let version: 0 | 1 = 0;
  for (const entry of entries.filter(isFormatVersion)) {
    if (entry.value !== '0' && entry.value !== '1') throw unsupported('format-version');
    version = entry.value === '0' ? 0 : 1;
  }
  return version;
}

function isFormatVersion(entry: ConfigEntry): boolean {
  return entry.section === 'core' && entry.subsection === null && entry.key === 'repositoryformatversion';
}

function isObjectFormat(value: string | null): value is 'sha1' | 'sha256' {
  return value === 'sha1' || value === 'sha256';
}

/** Git's spellings of false (git-config(1), "Values"); everything else counts as true here, also what Git would not read. */
function isFalse(value: string | null): boolean {
  return value !== null && ['false', 'no', 'off', '0', ''].includes(value.toLowerCase());
}

function nameOf(entry: ConfigEntry): string {
  return [entry.section, entry.subsection, entry.key].filter((part) => part !== null).join('.');
}
