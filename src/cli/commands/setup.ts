import { type Command, exitRefused } from '../command.ts';

export const setup: Command = {
  name: 'setup',
  usage: '[--install-system-packages]',
  summary:
    'Build nodegit for this machine into the user cache, or wait for a build under way. Takes some minutes once.',
  help: ['  --install-system-packages  let apt-get install what the build lacks'],
  options: { 'install-system-packages': { type: 'boolean' } },
  positionals: [0, 0],
  run: async ({ values, terminal, json }) => {
    // It comes with the package but is no part of the library: set-up runs it before anything is compiled.
    const { ensureNodegit } = await import('../../../scripts/nodegit.mjs');
    const state = await ensureNodegit({ installSystemPackages: values['install-system-packages'] === true });
    const ready = state.state === 'ready';
    if (json) terminal.print(JSON.stringify({ ok: ready, ...state }));
    else terminal.print(ready ? `nodegit is ready in ${state.path}` : `nodegit: ${state.state}`);
    if (!json && state.state === 'failed') terminal.note(state.reason);
    return ready ? 0 : exitRefused;
  },
};
