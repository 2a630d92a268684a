import { type Command, exitRefused } from '../command.ts';
import { withService } from './with-service.ts';

export const explain: Command = {
  name: 'explain',
  usage: 'PATH',
  summary: 'Show every fact that is checked for a selector, in order. Exit code 0 when it is authorised.',
  positionals: [1, 1],
  run: async (invocation) => {
    const selector = invocation.positionals[0] as string;
    // As it is given: that a selector is not absolute is one of the facts.
    const found = await withService(invocation, ({ authority }) => authority.explain(selector));
    const { terminal, json } = invocation;
    if (json) {
      terminal.print(JSON.stringify({ ok: found.authorized, ...found }));
      return found.authorized ? 0 : exitRefused;
    }
    for (const { fact, expected, seen, holds } of found.facts) {
      terminal.print(
        `${holds ? 'holds ' : 'FAILS '} ${fact}: ${seen}${holds ? '' : ` (expected: ${expected})`}`,
      );
    }
    if (found.result !== null) {
      const { kind, gitBoundary, root } = found.result;
      terminal.print(`authorised: ${root} as ${kind}, Git boundary ${gitBoundary}`);
      return 0;
    }
    terminal.print(`not authorised: ${found.refusal?.code ?? 'workspace_not_authorized'}`);
    return exitRefused;
  },
};
