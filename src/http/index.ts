export { type App, type AppOptions, createApp } from './app.ts';
export type { Authenticate, Caller } from './caller.ts';
export { defaultLimits, type HttpLimits } from './limits.ts';
export type { Drainable, DrainOptions, HttpOptions } from './options.ts';
export type { AuditEvent, AuditSink, HttpLogger } from './request-log.ts';
export { createRouter, type RouterHandler } from './router.ts';
export { createAppServer, defaultServerLimits, drainServer, type ServerLimits } from './server.ts';
export type { SignIn } from './sign-in.ts';
export {
  createStandaloneAuthentication,
  type StandaloneAuthentication,
  type TokenSource,
} from './standalone-authentication.ts';
