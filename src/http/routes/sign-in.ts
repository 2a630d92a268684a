import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { answerHeaders } from '../send-answer.ts';
import type { SignIn } from '../sign-in.ts';

/** Opens a session for the browser that follows a one-time URL. A code works once; the URL it leaves in a history is spent. */
export function signInRoute(signIn: SignIn): Route {
  return defineRoute({
    method: 'GET',
    path: '/sign-in',
    access: 'anyone',
    summary: 'Turn the code of a one-time URL into a session cookie.',
    query: z.strictObject({ code: z.string().min(1).max(200) }),
    answers: { 303: { description: 'Signed in; the cookie is set.' } },
    run: async (context, query) => {
      const { exchange } = context;
      const cookie = await signIn.redeem(query.code, exchange.request);
      if (cookie === null) return await context.refuse();
      const headers = answerHeaders(exchange);
      headers.push('Set-Cookie', cookie, 'Location', signIn.landing ?? `${exchange.base}/workspaces`);
      headers.push('Content-Length', '0');
      exchange.response.writeHead(303, headers).end();
      return null;
    },
  });
}
