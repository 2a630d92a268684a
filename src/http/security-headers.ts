import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * What every answer carries, as alternating names and values. Helmet is asked once and its answer kept: running it per request
 * costs more than a cached file read. Strict-Transport-Security is left to whoever terminates TLS.
 */
export const securityHeaders: readonly string[] = recordHelmet();

function recordHelmet(): string[] {
  const headers: string[] = [];
  const recorder = {
    setHeader: (name: string, value: string) => headers.push(name, value),
    removeHeader: () => undefined,
  };
  const middleware = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], sandbox: [] },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    strictTransportSecurity: false,
    originAgentCluster: false,
    xFrameOptions: { action: 'deny' },
    // Answers are never HTML; these two only concern old browsers that open a download or run a filter on a page.
    xDownloadOptions: false,
    xXssProtection: false,
    xDnsPrefetchControl: false,
    xPermittedCrossDomainPolicies: false,
  });
  let failure: unknown = null;
  middleware({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    failure = error ?? null;
  });
  if (failure !== null) throw failure;
  return headers;
}
