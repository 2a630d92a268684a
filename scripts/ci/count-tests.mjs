/** Prints `passed failed` of a vitest JSON report. A skipped test and a file that did not load are failures. */
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const tests = report.testResults.flatMap((file) => file.assertionResults);
const passed = tests.filter(({ status }) => status === 'passed').length;
const emptyFiles = report.testResults.filter((file) => file.assertionResults.length === 0);
for (const { name, message } of emptyFiles) console.error(`no test ran in ${name}: ${message}`);
for (const { status, fullName } of tests) if (status !== 'passed') console.error(`${status}: ${fullName}`);
console.log(`${passed} ${tests.length - passed + emptyFiles.length}`);
