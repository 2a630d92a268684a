import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Service } from '../service.ts';
import { middlewareOf } from './middleware.ts';
import type { Drainable, HttpOptions } from './options.ts';
import { createPipeline } from './pipeline.ts';
import { apiRoutes } from './routes/index.ts';

/** What `app.use` of Express takes, typed by node:http alone so that a consumer needs no Express types. */
export type RouterFunction = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

export type RouterHandler = RouterFunction & Drainable;

/**
 * The API as an Express router, to be mounted under any path and before any body parser: it reads bodies itself, after the gates
 * that must come first. It answers every request below its mount and never calls `next`.
 */
export function createRouter(service: Service, options: HttpOptions): RouterHandler {
  const pipeline = createPipeline(service, apiRoutes(options), options);
  const router = Router({ caseSensitive: true, strict: true });
  router.use(middlewareOf(pipeline));
  return Object.assign(router as unknown as RouterFunction, { drain: pipeline.drain });
}
