import type { Request, Response } from 'express';
import type { Pipeline } from './pipeline.ts';

/** One layer for all routes: the pipeline looks a route up in one step where Express would try each pattern in turn. */
export function middlewareOf(pipeline: Pipeline): (request: Request, response: Response) => Promise<void> {
  return (request, response) => pipeline.handle(request, response, request.baseUrl, request.url);
}
