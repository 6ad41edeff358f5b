import { isUtf8 } from 'node:buffer';
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { emptyBody, ProblemError } from '../errors/errors';
import { JSON_TYPE, PATCH_TYPES } from '../rest/media-types';

/** Maximum size of a request body, and of a message over WebSocket, in bytes (docs/bounds.md). */
export const BODY_LIMIT = 100 * 1024;

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Makes `app` accept JSON bodies only. Fastify's own parser would report a key `__proto__` as invalid JSON. `JSON.parse`
 * makes it an ordinary key.
 */
export function acceptJsonBodies(app: FastifyInstance): void {
  accept(app, [JSON_TYPE], (_request, text, done) => done(null, parsed(text, JSON.parse)));
}

/** Makes `app` accept only JSON bodies and JSON merge patches. Numbers are parsed without loss, see {@link parseJson}. */
export function acceptExactJsonBodies(app: FastifyInstance): void {
  accept(app, PATCH_TYPES, (_request, text, done) => done(null, parseJson(text)));
}

function accept(app: FastifyInstance, types: readonly string[], parse: FastifyBodyParser<string>): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...types], { parseAs: 'buffer' }, (request, bytes: Buffer, done) =>
    parse(request, textOf(request, bytes), done),
  );
}

/** @throws ProblemError `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST`. */
function textOf(request: FastifyRequest, bytes: Buffer): string {
  checkType(request);
  if (bytes.length === 0) throw emptyBody();
  if (!isUtf8(bytes)) throw new ProblemError('BAD_REQUEST', 'The body is not valid UTF-8.');
  const text = bytes.toString();
  // Some editors and .NET prepend a byte order mark. A parser may ignore it (RFC 8259, section 8.1).
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/**
 * Matches numbers that `JSON.parse` may round (16 or more digits). Also matches numbers in object members that have a fraction
 * or an exponent, since `JSON.parse` loses their notation.
 */
const DELICATE = /[0-9]{16}|"\s*:\s*-?[0-9]+[.eE]/;

/**
 * Parses JSON. If an object has duplicate keys, the last one wins, as with `JSON.parse`. If `JSON.parse` might change any
 * number in the text, all numbers in the text become `LosslessNumber`s.
 * @throws ProblemError `BAD_REQUEST`.
 */
export function parseJson(text: string): unknown {
  const exactly = () => parse(text, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  return parsed(text, DELICATE.test(text) ? exactly : JSON.parse);
}

/** @throws ProblemError `BAD_REQUEST`. */
function parsed(text: string, parser: (text: string) => unknown): unknown {
  try {
    return parser(text);
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
