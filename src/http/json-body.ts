import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'lossless-json';
import { emptyBody, ProblemError } from '../errors/errors';
import { JSON_TYPE, PATCH_TYPES } from '../rest/media-types';
import type { RequestsInProgress } from './requests-in-progress';

/** Maximum size of a request body, and of a message over WebSocket, in bytes (docs/bounds.md). */
export const BODY_LIMIT = 100 * 1024;

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Makes `app` accept JSON bodies only. Fastify's own parser would report a key `__proto__` as invalid JSON. `JSON.parse`
 * makes it an ordinary key.
 */
export function acceptJsonBodies(app: FastifyInstance, requests: RequestsInProgress): void {
  accept(app, requests, [JSON_TYPE], (_request, text, done) => done(null, parsed(text, JSON.parse)));
}

/** Makes `app` accept only JSON bodies and JSON merge patches. Numbers are parsed without loss, see {@link parseJson}. */
export function acceptExactJsonBodies(app: FastifyInstance, requests: RequestsInProgress): void {
  accept(app, requests, PATCH_TYPES, (_request, text, done) => done(null, parseJson(text)));
}

function accept(
  app: FastifyInstance,
  requests: RequestsInProgress,
  types: readonly string[],
  parse: FastifyBodyParser<string>,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser([...types], (request, payload: Readable, done) =>
    readBody(request, payload, (error, bytes) => {
      if (!bytes) return done(error);
      const rejection = requests.countBody(request.slot, bytes.length);
      if (rejection) {
        request.meter.waive();
        return done(rejection);
      }
      try {
        parse(request, textOf(request, bytes), done);
      } catch (fault) {
        done(fault as Error);
      }
    }),
  );
}

/** Makes `app` read no bodies, for unknown paths. */
export function readNoBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** Makes `app` accept bodies of any text with this media type. */
export function acceptTextBodies(app: FastifyInstance, type: string): void {
  app.addContentTypeParser(type, (request, payload: Readable, done) =>
    readBody(request, payload, (error, bytes) => done(error, bytes?.toString())),
  );
}

/**
 * Reads a body. Fastify's own reader keeps an object for each chunk, so a body in chunks of one byte would take hundreds of times
 * its size.
 */
function readBody(
  { headers }: FastifyRequest,
  payload: Readable,
  done: (error: Error | null, bytes?: Buffer) => void,
): void {
  if (Number(headers['content-length']) > BODY_LIMIT) return void done(tooLarge());
  let bytes: Buffer = EMPTY;
  let length = 0;
  const finish = (error: Error | null) => {
    payload.off('data', take).off('end', end).off('error', fail);
    if (error) done(error);
    else done(null, bytes.subarray(0, length));
  };
  const take = (chunk: Buffer) => {
    const start = length;
    length += chunk.length;
    if (length > BODY_LIMIT) return void finish(tooLarge());
    // Most bodies arrive in one chunk.
    if (start === 0) {
      bytes = chunk;
      return;
    }
    if (bytes.length < length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * bytes.length), BODY_LIMIT));
      bytes.copy(larger, 0, 0, start);
      bytes = larger;
    }
    chunk.copy(bytes, start);
  };
  const end = () => finish(null);
  const fail = (error: Error) => finish(Object.assign(error, { statusCode: 400 }));
  payload.on('data', take).on('end', end).on('error', fail).resume();
}

const EMPTY = Buffer.alloc(0);

function tooLarge(): ProblemError {
  return new ProblemError('PAYLOAD_TOO_LARGE', 'The body must not be larger than 100 KiB.');
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
