import type { FastifyReply } from 'fastify';
import { isErrorCode } from '../../errors/error-codes';
import { helpLink } from '../../errors/help';

/** The codes in a body. A quotation mark within a text is escaped, so what callers sent cannot look like one. */
const CODES = /"code":"(\w+)"/g;

/**
 * Links a refusal to the description of its code, beside other links that the response has: of `Error` objects, and of
 * GraphQL where all errors have the same code.
 */
export function linkToHelp(reply: FastifyReply, payload: unknown): void {
  if (typeof payload !== 'string') return;
  const [code, ...others] = new Set(Array.from(payload.matchAll(CODES), ([, found]) => found));
  if (!isErrorCode(code) || others.length) return;
  const given = reply.getHeader('link');
  reply.header('link', given ? `${given}, ${helpLink(code)}` : helpLink(code));
}
