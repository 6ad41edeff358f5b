import { isUtf8 } from 'node:buffer';
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { emptyBody, ProblemError } from '../errors/errors';
import { PATCH_TYPES } from '../rest/representation';

const [JSON_TYPE] = PATCH_TYPES;

const BYTE_ORDER_MARK = '\ufeff';

/** Makes `app` accept JSON bodies only. */
export function acceptJsonBodies(app: FastifyInstance): void {
  accept(app, [JSON_TYPE], app.getDefaultJsonParser('error', 'error'));
}

/** Makes `app` accept JSON bodies and merge patches only, with exact numbers. */
export function acceptExactJsonBodies(app: FastifyInstance): void {
  accept(app, PATCH_TYPES, (_request, text, done) => done(null, parseJson(text)));
}

function accept(app: FastifyInstance, types: readonly string[], parse: FastifyBodyParser<string>): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...types], { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    // These methods have no body, but some clients send a Content-Type.
    if (request.method === 'DELETE' || request.method === 'OPTIONS') return done(null, undefined);
    return parse(request, textOf(request, bytes), done);
  });
}

/** @throws ProblemError `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST`. */
function textOf(request: FastifyRequest, bytes: Buffer): string {
  checkType(request);
  if (bytes.length === 0) throw emptyBody();
  if (!isUtf8(bytes)) throw new ProblemError('BAD_REQUEST', 'The body is not valid UTF-8.');
  const text = bytes.toString();
  // Editors and .NET add a byte order mark, which a parser may ignore (RFC 8259, section 8.1).
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Numbers that JSON.parse may change, or whose notation it loses: 16 or more digits, fractions, exponents. */
const DELICATE = /[0-9]{16}|"\s*:\s*-?[0-9]+[.eE]/;

/**
 * Like JSON.parse (the last of duplicate keys counts), but if JSON.parse might change a number, all numbers are
 * `LosslessNumber`s.
 * @throws ProblemError `BAD_REQUEST`.
 */
export function parseJson(text: string): unknown {
  try {
    if (!DELICATE.test(text)) return JSON.parse(text);
    return parse(text, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  } catch {
    throw new ProblemError('BAD_REQUEST', 'The body is not valid JSON.');
  }
}

function checkType({ method, headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? '';
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw unsupported('The body must not be compressed.');
  if (type === JSON_TYPE) return;
  const [essence = '', ...parameters] = type.toLowerCase().split(';');
  if (essence.trim() !== JSON_TYPE && method !== 'PATCH') throw unsupported(`The body must be ${JSON_TYPE}.`);
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) throw unsupported('The body must be in UTF-8.');
}

function unsupported(message: string): ProblemError {
  return new ProblemError('UNSUPPORTED_MEDIA_TYPE', message);
}
