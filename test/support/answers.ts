import type { Authority } from '../../src/authority/authority.ts';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import { isAuthorityError } from '../../src/errors/index.ts';

/** What an authority answers to a selector, in one word: the boundary it grants, or its refusal with the reason. */
export async function answerOf(
  authority: Authority,
  selector: string,
  signal?: AbortSignal,
): Promise<string> {
  try {
    await using capability = await authority.authorize(selector, signal);
    return capability.gitBoundary;
  } catch (error) {
    return refusalOf(error);
  }
}

export function refusalOf(error: unknown): string {
  if (!isAuthorityError(error)) throw error;
  const { reason, what } = error.details;
  const said = reason ?? what;
  return typeof said === 'string' ? `${error.code}: ${said}` : error.code;
}

/** As `answerOf`, with the kind of what is granted: `linked-worktree root`. */
export async function grantOf(authority: Authority, selector: string): Promise<string> {
  try {
    await using capability = await authority.authorize(selector);
    return `${capability.kind} ${capability.gitBoundary}`;
  } catch (error) {
    return refusalOf(error);
  }
}

/** `current`, or why a capability in use is not any more. */
export function currencyOf(capability: FileCapability): Promise<string> {
  return capability.assertCurrent().then(() => 'current', refusalOf);
}
