import type { FastifyReply, FastifyRequest } from 'fastify';

const STUDIO = 'https://studio.apollographql.com';

/**
 * Lets a page of a public site reach a server on the user's own machine or network, if the browser asks for it in its
 * preflight (Private Network Access): Apollo Studio, whose Sandbox needs it, and configured origins. Allowing any origin
 * to call is not enough.
 */
export function privateNetwork({ headers }: FastifyRequest, reply: FastifyReply): Record<string, string> | undefined {
  const { origin } = headers;
  if (!origin || headers['access-control-request-private-network'] !== 'true') return undefined;
  const allowed = reply.getHeader('access-control-allow-origin');
  const isTrusted = allowed === origin || (allowed === '*' && origin === STUDIO);
  return isTrusted ? { 'access-control-allow-private-network': 'true' } : undefined;
}
