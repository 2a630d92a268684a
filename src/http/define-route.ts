import type { z } from 'zod';
import { readShape, type ShapeTexts } from './gates/shape.ts';
import type { RouteContext } from './route-context.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route gives back. `null`: the route has sent its answer itself. */
export interface Answer {
  readonly status: number;
  readonly body: object;
  /** Further headers, names and values alternating. */
  readonly headers?: readonly string[];
  readonly contentType?: string;
}

/** One answer a route can give on success, for the API description. */
export interface DocumentedAnswer {
  readonly description: string;
  /** Absent where the answer is no JSON. */
  readonly schema?: z.ZodType;
  readonly mediaType?: string;
}

export interface RouteDefinition<Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: Method;
  /** Below the mount, without parameters: what a request acts on is in its query or body. */
  readonly path: string;
  readonly summary: string;
  /** anyone: no authentication. operator: a caller that is an operator. Default: any authenticated caller. */
  readonly access?: 'anyone' | 'caller' | 'operator';
  /** False only for health checks, whose answers tell nothing. */
  readonly originChecked?: false;
  /** Answered even while the server stops. */
  readonly whileStopping?: true;
  readonly answersHead?: true;
  /** Strict object of strings; absent: no parameter is accepted. */
  readonly query?: Query;
  /** Strict object; given for every method but GET. */
  readonly body?: Body;
  /** Request headers the route reads, for the API description. */
  readonly requestHeaders?: readonly string[];
  /** `error` literals of the wire contract for a missing or wrong field. */
  readonly shapeTexts?: ShapeTexts;
  readonly answers: Readonly<Record<number, DocumentedAnswer>>;
  readonly run: (
    context: RouteContext,
    query: z.output<Query>,
    body: z.output<Body>,
  ) => Answer | null | Promise<Answer | null>;
}

/** A route with its schemas behind functions, so that routes of different shapes fit in one table. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly name: string;
  readonly access: 'anyone' | 'caller' | 'operator';
  readonly originChecked: boolean;
  readonly whileStopping: boolean;
  readonly answersHead: boolean;
  readonly changes: boolean;
  readonly definition: RouteDefinition<z.ZodType, z.ZodType>;
  /** Gate 6, then the route. @throws `invalid_request` (details.field, details.reason) or what the route throws */
  readonly run: (
    context: RouteContext,
    query: Readonly<Record<string, string>>,
    body: unknown,
  ) => Answer | null | Promise<Answer | null>;
}

/** Schema, documentation and handler of one route in one value: the OpenAPI description is made from the same schemas that refuse. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType>(
  definition: RouteDefinition<Query, Body>,
): Route {
  const { query: querySchema, body: bodySchema, shapeTexts = {} } = definition;
  return {
    method: definition.method,
    path: definition.path,
    name: `${definition.method} ${definition.path}`,
    access: definition.access ?? 'caller',
    originChecked: definition.originChecked ?? true,
    whileStopping: definition.whileStopping ?? false,
    answersHead: definition.answersHead ?? false,
    changes: definition.method !== 'GET',
    definition: definition as unknown as RouteDefinition<z.ZodType, z.ZodType>,
    run: (context, query, body) =>
      definition.run(
        context,
        readShape(querySchema, query, shapeTexts) as z.output<Query>,
        (definition.method === 'GET' ? undefined : readShape(bodySchema, body, shapeTexts)) as z.output<Body>,
      ),
  };
}
