import { openStandaloneState } from '../../index.ts';
import type { Command } from '../command.ts';

export const tokenRotate: Command = {
  name: 'token rotate',
  usage: '',
  summary: 'Replace the access token; the old one and its browser sessions fail from then on.',
  positionals: [0, 0],
  run: async ({ stateDirectory, terminal, json }) => {
    await using state = await openStandaloneState(stateDirectory === undefined ? {} : { stateDirectory });
    const token = await state.rotateToken();
    if (json) terminal.print(JSON.stringify({ ok: true, token, file: state.tokenFile }));
    else terminal.print(`The new token stands in ${state.tokenFile}.`);
    return 0;
  },
};
