/**
 * Settings that win over every configuration file (git(1), `-c`). No protocol is spoken, no signature is checked, nothing is cached or
 * collected behind a command's back, and no program runs that a repository names under one of these keys. What `-c` cannot win over
 * (drivers, whose names are the repository's; settings of which Git takes the first) is the business of the configuration gate.
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
  'gpg.openpgp.program=false',
  'gpg.ssh.program=false',
  'gpg.x509.program=false',
  'gpg.ssh.defaultKeyCommand=false',
  'merge.verifySignatures=false',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'tag.forceSignAnnotated=false',
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
  'core.quotePath=false',
  'color.ui=false',
];

/** What stands before the subcommand of every Git command. */
export const fixedArguments: readonly string[] = [
  '--no-pager',
  '--literal-pathspecs',
  ...settings.flatMap((setting) => ['-c', setting]),
];
