/** Child of `run.ts`: runs one trial, so that a trial starts with a fresh heap and its failure stays its own. */
import { measureTrial } from './harness/measure.ts';
import { fullScale, quickScale } from './harness/trial.ts';
import { trials } from './trials.ts';

const [id, mode] = process.argv.slice(2);
const trial = trials.find((one) => one.id === id);
if (trial === undefined || process.send === undefined) throw new Error('started by bench/run.ts only');
// A trial may wait for nothing but a child that does not keep this process; the open channel does.
process.on('message', () => {});
process.on('disconnect', () => process.exit());
for await (const outcome of measureTrial(trial, mode === 'quick' ? quickScale : fullScale)) {
  process.send(outcome);
}
process.disconnect();
