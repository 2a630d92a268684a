import { createService, defaultStateDirectory, type Readiness } from '../../index.ts';
import { type Command, exitRefused, type Invocation } from '../command.ts';
import { describeFailure } from '../failure.ts';

interface Finding {
  readonly check: string;
  /** warning: it works, but not as well as it could. */
  readonly outcome: 'ok' | 'warning' | 'failure';
  readonly seen: string;
  readonly advice: string | null;
}

export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary: 'Check the kernel, the state directory, the registry, the provers and every registered directory.',
  positionals: [0, 0],
  run: async (invocation) => {
    const findings = await examine(invocation);
    const healthy = findings.every(({ outcome }) => outcome !== 'failure');
    const { terminal, json } = invocation;
    if (json) terminal.print(JSON.stringify({ ok: healthy, findings }));
    else for (const line of findings.flatMap(describe)) terminal.print(line);
    return healthy ? 0 : exitRefused;
  },
};

async function examine({ stateDirectory }: Invocation): Promise<readonly Finding[]> {
  const platform = finding('platform', process.platform === 'linux', `${process.platform} ${process.arch}`, {
    advice: 'Only Linux has what confined file access needs.',
  });
  try {
    const path = stateDirectory ?? defaultStateDirectory();
    await using service = await createService({ stateDirectory: path });
    const readiness = await service.readiness();
    return [
      platform,
      finding('Node.js', true, process.version),
      ...(readiness.kernel.openat2 ? [finding('state directory', true, path)] : []),
      ...judge(readiness),
    ];
  } catch (error) {
    const { code, message, details, advice } = describeFailure(error);
    const seen = `${message} (${code}) ${JSON.stringify(details)}`;
    return [platform, { check: 'state directory', outcome: 'failure', seen, advice }];
  }
}

function judge({ kernel, prover, registry, roots }: Readiness): readonly Finding[] {
  // Without it nothing else was looked at.
  if (!kernel.openat2) {
    return [finding('openat2', false, `not available (${kernel.code})`, { advice: kernel.hint })];
  }
  return [
    finding('openat2', true, 'available'),
    finding(
      'registry',
      registry.readable,
      registry.readable ? `${registry.rows} workspaces` : String(registry.code),
      {
        advice:
          'Restore registry.json or put it right. Nothing is authorised until it can be read completely.',
      },
    ),
    finding('Git', prover.gitVersion !== null, prover.gitVersion ?? 'does not run', {
      advice: 'Install Git 2.39 or later.',
      weight: prover.active === 'none' ? 'failure' : 'warning',
    }),
    finding('nodegit', prover.nodegit === 'ready', prover.nodegit, {
      advice: '`workspace-authority setup` builds it; until then Git alone proves repositories.',
      weight: prover.active === 'none' ? 'failure' : 'warning',
    }),
    ...notExamined(registry.rows ?? 0, roots.length),
    ...roots.map(({ path, authorized, code, exchange }) => {
      if (!authorized) {
        return finding(path, false, String(code), {
          advice: '`workspace-authority explain PATH` shows which fact fails.',
        });
      }
      return finding(path, exchange !== 'unsupported', `authorised, atomic exchange ${exchange}`, {
        advice:
          'It can be read, not changed: keep it on a local file system such as ext4, xfs, btrfs or tmpfs.',
        weight: 'warning',
      });
    }),
  ];
}

/** A check of health must stay one: beyond some number, roots are not opened. */
function notExamined(rows: number, examined: number): readonly Finding[] {
  if (rows <= examined) return [];
  const advice = '`workspace-authority explain PATH` looks at any of the others.';
  return [
    {
      check: 'workspaces',
      outcome: 'warning',
      seen: `only the first ${examined} of ${rows} were examined`,
      advice,
    },
  ];
}

function finding(
  check: string,
  holds: boolean,
  seen: string,
  otherwise: { readonly advice?: string | null; readonly weight?: 'warning' | 'failure' } = {},
): Finding {
  if (holds) return { check, outcome: 'ok', seen, advice: null };
  return { check, outcome: otherwise.weight ?? 'failure', seen, advice: otherwise.advice ?? null };
}

function describe({ check, outcome, seen, advice }: Finding): readonly string[] {
  const line = `${outcome.padEnd(8)}${check}: ${seen}`;
  return advice === null ? [line] : [line, `        ${advice}`];
}
