import type { RequestListener } from 'node:http';
import express from 'express';
import type { Service } from '../service.ts';
import { middlewareOf } from './middleware.ts';
import type { Drainable, DrainOptions, HttpOptions } from './options.ts';
import { createPipeline } from './pipeline.ts';
import { apiRoutes, healthRoutes } from './routes/index.ts';

export interface AppOptions extends HttpOptions {
  /** Path under which the API stands; default `/api`. */
  readonly basePath?: string;
}

/** A whole application for `http.createServer`, which can also stop taking requests. */
export type App = RequestListener & Drainable;

/** The API under its base path and the health checks also at the root; every other path is answered like an unknown route. */
export function createApp(service: Service, options: AppOptions): App {
  const api = createPipeline(service, apiRoutes(options), options);
  const root = createPipeline(service, healthRoutes, options);
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.use(options.basePath ?? '/api', middlewareOf(api));
  app.use(middlewareOf(root));
  return Object.assign(((request, response) => app(request, response)) as RequestListener, {
    drain: async (drainOptions?: DrainOptions) => {
      await Promise.all([api.drain(drainOptions), root.drain(drainOptions)]);
    },
  });
}
