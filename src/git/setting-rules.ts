import type { CommandUse } from './cleared-place.ts';
import type { Setting } from './setting.ts';

/**
 * What is done about the keys of a row.
 *
 * - `pinned`: a fixed setting or the environment wins over it, and no answer changes
 * - `argument`: an option of each command that could be led by it switches it off
 * - `unused`: no command of ours reads it
 * - `harmless`: it names no program and no place
 * - a list: refused where a command is meant for one of these uses
 */
export type Handling = 'pinned' | 'argument' | 'unused' | 'harmless' | readonly CommandUse[];

export interface SettingRule {
  readonly handling: Handling;
  /** `section.variable`, `section.*.variable` with any subsection, or `section.**` for a whole section. Lower case. */
  readonly keys: readonly string[];
}

const all: readonly CommandUse[] = ['facts', 'work-tree', 'merge', 'network'];
const contents: readonly CommandUse[] = ['work-tree', 'merge'];
const network: readonly CommandUse[] = ['network'];
const merge: readonly CommandUse[] = ['merge'];

function keysOf(section: string, variables: string): string[] {
  return variables.split(/\s+/).map((variable) => `${section}.${variable}`);
}

/**
 * The gate's table; the first row that names a key decides. A key that no row names is refused for every use when another row names
 * its section, and passes when none does: Git reads no such section. A test holds the table against the keys that Git knows.
 * Sources: git-config(1), gitattributes(5), and measurements with every key set.
 */
export const settingRules: readonly SettingRule[] = [
  // Files that proof has not read, another work tree, and hooks that no hooks path would switch off.
  { handling: all, keys: ['include.**', 'includeif.**', 'core.worktree', 'hook.**'] },

  // Programs through which contents pass, and files from elsewhere that choose them or hide files.
  { handling: contents, keys: keysOf('filter', '*.clean *.smudge *.process') },
  { handling: contents, keys: keysOf('core', 'attributesfile excludesfile') },
  { handling: merge, keys: ['merge.*.driver', 'branch.*.mergeoptions', 'pull.twohead', 'pull.octopus'] },

  // Programs, credentials and addresses of another machine. Fixed settings keep the first two quiet for all other uses.
  { handling: network, keys: keysOf('core', 'sshcommand gitproxy') },
  { handling: 'harmless', keys: keysOf('http', 'postbuffer lowspeedlimit lowspeedtime version') },
  { handling: 'harmless', keys: keysOf('http', 'maxrequests minsessions useragent noepsv') },
  { handling: network, keys: ['http.**', 'credential.**', 'url.**', 'ssh.**'] },
  {
    handling: 'harmless',
    keys: keysOf('remote', '*.fetch *.url *.pushurl *.push *.mirror *.prune *.prunetags'),
  },
  {
    handling: 'harmless',
    keys: keysOf('remote', '*.tagopt *.skipdefaultupdate *.skipfetchall *.gh-resolved'),
  },
  { handling: 'harmless', keys: ['remote.pushdefault'] },
  // Reads never fetch what is missing: the environment forbids it, and every protocol.
  { handling: 'pinned', keys: keysOf('remote', '*.promisor *.partialclonefilter') },
  { handling: network, keys: ['remote.**'] },
  { handling: 'harmless', keys: keysOf('lfs', 'repositoryformatversion *.access *.locksverify locksverify') },
  { handling: [...contents, ...network], keys: ['lfs.**'] },

  // Fixed settings win, and the environment over the protocols.
  { handling: 'pinned', keys: keysOf('core', 'fsmonitor untrackedcache hookspath pager editor askpass') },
  { handling: 'pinned', keys: keysOf('core', 'alternaterefscommand usereplacerefs quotepath') },
  { handling: 'pinned', keys: ['sequence.editor', 'diff.external', 'interactive.difffilter', 'color.ui'] },
  { handling: 'pinned', keys: keysOf('gpg', 'program openpgp.program ssh.program x509.program') },
  { handling: 'pinned', keys: ['gpg.ssh.defaultkeycommand', 'commit.gpgsign', 'push.gpgsign'] },
  { handling: 'pinned', keys: ['tag.gpgsign', 'tag.forcesignannotated'] },
  {
    handling: 'pinned',
    keys: ['log.showsignature', 'merge.verifysignatures', 'protocol.allow', 'protocol.*.allow'],
  },
  { handling: 'pinned', keys: ['submodule.recurse', 'fetch.recursesubmodules', 'push.recursesubmodules'] },
  { handling: 'pinned', keys: ['gc.auto', 'maintenance.auto', 'safe.barerepository'] },

  // `--no-ext-diff --no-textconv`, `--no-pager`.
  { handling: 'argument', keys: ['diff.*.command', 'diff.*.textconv', 'pager.**'] },

  {
    handling: 'unused',
    keys: ['alias.**', 'trailer.**', 'mergetool.**', 'difftool.**', 'browser.**', 'man.**'],
  },
  { handling: 'unused', keys: ['web.**', 'instaweb.**', 'help.**', 'gui.**', 'guitool.**', 'gitcvs.**'] },
  { handling: 'unused', keys: ['gitweb.**', 'sendemail.**', 'imap.**', 'uploadpack.**', 'uploadarchive.**'] },
  { handling: 'unused', keys: ['uploadpackfilter.**', 'receive.**', 'init.**', 'clone.**', 'trace2.**'] },
  { handling: 'unused', keys: ['submodule.**', 'interactive.**', 'gc.**', 'maintenance.**', 'repack.**'] },
  { handling: 'unused', keys: ['tar.**', 'rebase.**', 'safe.**', 'bundle.**', 'format.**', 'am.**'] },
  { handling: 'unused', keys: ['credentialcache.**', 'credentialstore.**', 'fastimport.**', 'mailinfo.**'] },
  {
    handling: 'unused',
    keys: ['column.**', 'completion.**', 'grep.**', 'blame.**', 'showbranch.**', 'add.**'],
  },

  {
    handling: 'harmless',
    keys: keysOf('core', 'abbrev alternaterefsprefixes autocrlf bare bigfilethreshold'),
  },
  {
    handling: 'harmless',
    keys: keysOf('core', 'checkroundtripencoding checkstat commentchar commitgraph eol'),
  },
  {
    handling: 'harmless',
    keys: keysOf('core', 'compression createobject deltabasecachelimit filemode fsync'),
  },
  {
    handling: 'harmless',
    keys: keysOf('core', 'filesreflocktimeout fsmonitorhookversion fsyncmethod ignorecase'),
  },
  { handling: 'harmless', keys: keysOf('core', 'fsyncobjectfiles hidedotfiles ignorestat logallrefupdates') },
  { handling: 'harmless', keys: keysOf('core', 'loosecompression multipackindex notesref packedgitlimit') },
  { handling: 'harmless', keys: keysOf('core', 'packedgitwindowsize packedrefstimeout precomposeunicode') },
  { handling: 'harmless', keys: keysOf('core', 'prefersymlinkrefs preloadindex protecthfs protectntfs') },
  { handling: 'harmless', keys: keysOf('core', 'repositoryformatversion restrictinheritedhandles safecrlf') },
  {
    handling: 'harmless',
    keys: keysOf('core', 'sharedrepository sparsecheckout sparsecheckoutcone splitindex'),
  },
  {
    handling: 'harmless',
    keys: keysOf('core', 'symlinks trustctime unsetenvvars warnambiguousrefs whitespace'),
  },
  { handling: 'harmless', keys: keysOf('core', 'longpaths fscache') },
  { handling: 'harmless', keys: ['filter.*.required'] },
  {
    handling: 'harmless',
    keys: keysOf('merge', '*.name *.recursive autostash branchdesc conflictstyle default'),
  },
  {
    handling: 'harmless',
    keys: keysOf('merge', 'defaulttoupstream directoryrenames ff guitool log renamelimit'),
  },
  { handling: 'harmless', keys: keysOf('merge', 'renames renormalize stat suppressdest tool verbosity') },
  {
    handling: 'harmless',
    keys: keysOf('diff', '*.binary *.cachetextconv *.wordregex *.xfuncname *.funcname'),
  },
  {
    handling: 'harmless',
    keys: keysOf('diff', 'algorithm autorefreshindex colormoved colormovedws context'),
  },
  {
    handling: 'harmless',
    keys: keysOf('diff', 'dirstat guitool ignoresubmodules indentheuristic orderfile'),
  },
  {
    handling: 'harmless',
    keys: keysOf('diff', 'interhunkcontext mnemonicprefix noprefix relative renamelimit'),
  },
  { handling: 'harmless', keys: keysOf('diff', 'renames statgraphwidth submodule suppressblankempty tool') },
  { handling: 'harmless', keys: keysOf('diff', 'wordregex wserrorhighlight') },
  {
    handling: 'harmless',
    keys: keysOf('gpg', 'format mintrustlevel ssh.allowedsignersfile ssh.revocationfile'),
  },
  { handling: 'harmless', keys: ['protocol.version', 'sequence.**'] },
  {
    handling: 'harmless',
    keys: ['advice.**', 'apply.**', 'author.**', 'branch.**', 'checkout.**', 'clean.**'],
  },
  {
    handling: 'harmless',
    keys: ['color.**', 'commit.**', 'commitgraph.**', 'committer.**', 'extensions.**'],
  },
  {
    handling: 'harmless',
    keys: ['feature.**', 'fetch.**', 'fsck.**', 'fsmonitor.**', 'i18n.**', 'index.**'],
  },
  { handling: 'harmless', keys: ['log.**', 'lsrefs.**', 'mailmap.**', 'notes.**', 'pack.**', 'pretty.**'] },
  { handling: 'harmless', keys: ['pull.**', 'push.**', 'remotes.**', 'rerere.**', 'revert.**', 'sparse.**'] },
  {
    handling: 'harmless',
    keys: ['splitindex.**', 'stash.**', 'status.**', 'tag.**', 'transfer.**', 'user.**'],
  },
  { handling: 'harmless', keys: ['versionsort.**', 'worktree.**'] },
];

/** How a key is handled; null for one whose section the table knows, but not the key. */
export function handlingOf({
  section,
  subsection,
  variable,
}: Omit<Setting, 'scope' | 'value'>): Handling | null {
  if (!knownSections.has(section)) return 'harmless';
  const exact = subsection === null ? `${section}.${variable}` : `${section}.${subsection}.${variable}`;
  const names = [exact, ...(subsection === null ? [] : [`${section}.*.${variable}`]), `${section}.**`];
  const positions = names.flatMap((name) => rowOf.get(name) ?? []);
  const first = positions.length === 0 ? undefined : settingRules[Math.min(...positions)];
  return first?.handling ?? null;
}

/** Key to the position of its first row. */
const rowOf: ReadonlyMap<string, number> = new Map(
  settingRules.flatMap(({ keys }, row) => keys.map((key): [string, number] => [key, row])).reverse(),
);

const knownSections: ReadonlySet<string> = new Set(
  [...rowOf.keys()].map((key) => key.slice(0, key.indexOf('.'))),
);
