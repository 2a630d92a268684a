import type { Machine } from './machine.ts';
import { median } from './statistics.ts';
import { type Bound, meets, type Outcome } from './trial.ts';

type Verdict = 'goal' | 'must' | 'MISSED';

function verdictOf(outcome: Outcome): Verdict {
  if (!meets(outcome.figure, outcome.must)) return 'MISSED';
  return meets(outcome.figure, outcome.goal) ? 'goal' : 'must';
}

/** One line for the terminal, printed as soon as it is measured. */
export function terminalLine(outcome: Outcome): string {
  const name = `${outcome.id} ${outcome.variant}`.padEnd(44);
  const figure = figureText(outcome.figure, outcome.must).padStart(9);
  const bounds = `must ${boundText(outcome.must).padEnd(9)} goal ${boundText(outcome.goal).padEnd(9)}`;
  return `${name} ${figure}   ${bounds} ${verdictOf(outcome).padEnd(6)} ${basis(outcome)}`;
}

/** The table of the performance document. */
export function markdownTable(machine: Machine, outcomes: readonly Outcome[]): string {
  const facts = [
    `Measured ${machine.startedAt.slice(0, 10)}: kernel ${machine.kernel}, ${machine.fileSystem},`,
    `Node ${machine.node}, Git ${machine.git}, ${machine.cores} cores,`,
    `load average ${machine.loadBefore.toFixed(2)} before and ${machine.loadAfter.toFixed(2)} after; ${machine.rounds} rounds.`,
  ].join(' ');
  const rows = outcomes.map((outcome) => {
    const { id, variant, trial, against, figure, must, goal } = outcome;
    const measured = `**${figureText(figure, must)}**${verdictOf(outcome) === 'MISSED' ? ' (missed)' : ''}`;
    return `| ${id} | ${trial}: ${variant} | ${against} | ${measured} | ${boundText(must)} | ${boundText(goal)} |`;
  });
  const head = ['| id | trial | against | measured | must | goal |', '|---|---|---|---|---|---|'];
  return [facts, '', ...head, ...rows].join('\n');
}

function basis(outcome: Outcome): string {
  if (outcome.growth !== null) return `${outcome.growth.before} -> ${outcome.growth.after}`;
  return `${microseconds(outcome.oursNs)} against ${microseconds(outcome.theirsNs)} us`;
}

function microseconds(figuresNs: readonly number[]): string {
  return (median(figuresNs) / 1000).toPrecision(3);
}

function figureText(figure: number, { measure }: Bound): string {
  if (measure === 'growth') return `${figure >= 0 ? '+' : ''}${figure}`;
  if (measure === 'growthShare') return `${figure >= 0 ? '+' : ''}${(100 * figure).toFixed(1)} %`;
  return `${figure >= 100 ? figure.toFixed(0) : figure.toPrecision(2)}x`;
}

function boundText({ measure, limit }: Bound): string {
  if (measure === 'growth') return `+${limit}`;
  if (measure === 'growthShare') return `+${100 * limit} %`;
  return `${measure === 'speed' ? '>=' : '<='} ${limit}x`;
}

const begin = '<!-- bench: table begins -->';
const end = '<!-- bench: table ends -->';

/** Puts the table between the marks of the document. @throws when the marks are not there */
export function withTable(document: string, table: string): string {
  const from = document.indexOf(begin);
  const to = document.indexOf(end);
  if (from < 0 || to < from) throw new Error('the document has no marked place for the table');
  return `${document.slice(0, from + begin.length)}\n${table}\n${document.slice(to)}`;
}
