// Authorises selectors one after the other with the built package, for a registry of one row, and prints each outcome as JSON.
// Arguments: path of the addon's test build, the registered main checkout, the selectors as JSON.
import { createRequire } from 'node:module';
import { createAuthority } from '../../dist/authority/create-authority.js';

const [addon, main, selectors] = process.argv.slice(2);
const row = {
  id: 'main',
  path: main,
  title: null,
  identity: null,
  gitDirIdentity: null,
  allowMounts: false,
  registeredAt: null,
};
const authority = createAuthority({
  native: createRequire(import.meta.url)(addon),
  registry: { find: (path) => (path === main ? row : null), list: () => [row] },
  prover: { prove: async () => ({ agrees: true }) },
  protectedDirectories: [],
});

const outcomes = [];
for (const selector of JSON.parse(selectors)) {
  try {
    const capability = await authority.authorize(selector);
    outcomes.push(capability.kind);
    await capability[Symbol.asyncDispose]();
  } catch (error) {
    outcomes.push(`${error.code} ${JSON.stringify(error.details)}`);
  }
}
await authority.close();
console.log(JSON.stringify(outcomes));
