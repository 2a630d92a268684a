import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import type { BaseVersion } from '../files/workspace-files.ts';
import { baseVersion } from './entity-tags.ts';
import type { RouteContext } from './route-context.ts';

/**
 * The version a change of this file names. What is wrong with the path is told before a missing or malformed version, as the wire
 * contract orders them.
 * @throws as `baseVersion`, and as `WorkspaceFiles.open` where that has nothing to say about the version
 */
export async function baseOfChange(
  { service, exchange }: RouteContext,
  capability: FileCapability,
  path: BeneathPath,
  baseSha1?: string,
): Promise<BaseVersion> {
  try {
    return baseVersion(exchange, baseSha1);
  } catch (refusal) {
    using _present = await service.files.open(capability, path);
    throw refusal;
  }
}
