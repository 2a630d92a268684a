/**
 * Everything between a bare clone and a program that runs: dependencies, the addon, the compiled TypeScript,
 * and nodegit. Node built-ins only. A step whose inputs and outputs are unchanged is not repeated.
 *
 *   --wait-nodegit             wait for the build of nodegit; exit 1 when it cannot be had
 *   --without-nodegit          leave nodegit alone
 *   --test-addon               also build the addon's test variant, which holds the fail points
 *   --install-system-packages  let apt-get install what is missing (also when CI=true)
 */
const [major, minor] = process.versions.node.split('.').map(Number);
// The same range as `engines` of package.json; below it the modules imported next do not even load.
if (!((major === 20 && minor >= 17) || (major === 22 && minor >= 9) || major > 22)) {
  console.error(`setup: Node ^20.17 or >=22.9 is needed, this is ${process.versions.node}`);
  process.exit(1);
}
const { setUp } = await import('./setup/run.mjs');
process.exitCode = await setUp(process.argv.slice(2));
