// Runs write transactions for a test that kills, stops or disturbs it. Argument: path of the addon's test build.
// Each message names a root, a method of its DirectoryHandle, the arguments and a fault; each is answered by the outcome or
// the error, the system calls made, and the descriptors that are left.
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const native = createRequire(import.meta.url)(process.argv[2]);

process.on('message', async ({ root, method, words, guarded, fault }) => {
  const handle = await native.openRoot(root, {});
  const guard = guarded
    ? native.createGuard(handle, { closedShape: ['HEAD', 'objects', 'refs'], closedIdentities: [] })
    : null;
  native.setFault(fault);
  const answer = { outcome: undefined, error: undefined };
  try {
    answer.outcome = await handle[method](...words, ...(guarded === undefined ? [] : [guard]));
  } catch (error) {
    const { code, syscall, errno, inPlace, kept } = error;
    answer.error = { code, syscall, errno, inPlace, kept };
  }
  const trace = native.faultTrace();
  native.setFault(null);
  guard?.close();
  handle.close();
  process.send({ ...answer, trace, descriptors: readdirSync('/proc/self/fd').length });
});
process.send('ready');
