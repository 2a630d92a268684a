import { type BeneathPath, parseBeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import type { RouteContext } from './route-context.ts';

/**
 * Gate 7: turns the selector into a held capability, does the work under it and lets it go.
 * @throws as `Authority.authorize`, and what the work throws
 */
export async function inWorkspace<Result>(
  context: RouteContext,
  selector: string,
  work: (capability: FileCapability) => Promise<Result>,
): Promise<Result> {
  const { exchange, service } = context;
  await using capability = await service.authority.authorize(selector, exchange.signal);
  exchange.root = capability.root;
  return await work(capability);
}

/**
 * Parses the path a request acts on. Done after the selector is authorised, so that an unauthorised caller learns nothing from it.
 * @throws as `parseBeneathPath`
 */
export function targetOf(context: RouteContext, path: string): BeneathPath {
  const beneath = parseBeneathPath(path);
  context.exchange.target = beneath;
  return beneath;
}
