/** Prints the directory node-gyp is to take Node's headers from, so that it downloads none. */
import { nodeHeadersDirectory } from '../host.mjs';

const directory = nodeHeadersDirectory();
if (directory === undefined) {
  console.error(`no headers of Node ${process.versions.node} on this machine`);
  process.exit(1);
}
console.log(directory);
