// Takes slot 7 of a lease, says so, and holds it until it is killed. Arguments: addon, root, name.
import { createRequire } from 'node:module';

const [addon, path, name] = process.argv.slice(2);
const root = await createRequire(import.meta.url)(addon).openRoot(path, {});
const lease = await root.openLease(name);
console.log(lease.tryAcquire(7));
setInterval(() => lease, 1000);
