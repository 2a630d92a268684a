/**
 * Settings that win over every configuration file (git(1), `-c`). None of the programs a repository can name in its configuration
 * runs, no protocol is spoken, nothing is cached or collected behind a command's back.
 */
const settings = [
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.editor=false',
  'sequence.editor=false',
  'core.sshCommand=false',
  'core.gitProxy=',
  'core.askPass=',
  'core.alternateRefsCommand=:',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'diff.external=',
  'interactive.diffFilter=',
  'gpg.program=false',
  'gpg.ssh.program=false',
  'gpg.x509.program=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'push.gpgSign=false',
  'log.showSignature=false',
  'credential.helper=',
  'protocol.allow=never',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'gc.auto=0',
  'maintenance.auto=false',
  'safe.bareRepository=explicit',
  'core.useReplaceRefs=false',
];

/** What stands before the subcommand of every Git command. */
export const fixedArguments: readonly string[] = [
  '--no-pager',
  '--literal-pathspecs',
  ...settings.flatMap((setting) => ['-c', setting]),
];
