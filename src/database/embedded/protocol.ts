/**
 * Messages of PostgreSQL's wire protocol 3.0 (PostgreSQL documentation, "Message Flow" and "Message Formats"). A message has
 * a byte for its type, an Int32 for its length without the type byte, and its fields. Startup messages have no type byte.
 */

const code = (letter: string) => letter.charCodeAt(0);

/** Types of messages from a client. */
export const Frontend = {
  bind: code('B'),
  close: code('C'),
  copyData: code('d'),
  copyDone: code('c'),
  copyFail: code('f'),
  describe: code('D'),
  execute: code('E'),
  flush: code('H'),
  functionCall: code('F'),
  parse: code('P'),
  query: code('Q'),
  sync: code('S'),
  terminate: code('X'),
} as const;

/** Types of messages from the server. */
export const Backend = { error: code('E'), readyForQuery: code('Z') } as const;

/**
 * Codes of messages without a type byte. The code is the Int32 after the length. `protocol3` is only the upper 16 bits of
 * its Int32.
 */
export const Startup = { protocol3: 3, cancelRequest: 80877102, sslRequest: 80877103, gssRequest: 80877104 } as const;

export const HEADER_BYTES = 5;
/** PostgreSQL's limit for the length of a message. */
const MAX_MESSAGE_BYTES = 0x3fffffff;

/** Transaction status in ReadyForQuery: outside of a transaction. */
export const IDLE = code('I');
const STATEMENT = code('S');

/** The client has violated the protocol. */
export class ProtocolViolation extends Error {}

/** Splits the bytes from a client into messages. */
export class MessageReader {
  private rest: Buffer = Buffer.alloc(0);
  private isStarted = false;

  add(bytes: Uint8Array): void {
    const added = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.rest = this.rest.length ? Buffer.concat([this.rest, added]) : added;
  }

  /** Returns the next message; `undefined` while it is incomplete. @throws ProtocolViolation */
  next(): Buffer | undefined {
    const typeBytes = this.isStarted ? 1 : 0;
    if (this.rest.length < typeBytes + 4) return undefined;
    const length = this.rest.readUInt32BE(typeBytes);
    if (length < (this.isStarted ? 4 : 8) || length > MAX_MESSAGE_BYTES)
      throw new ProtocolViolation('invalid message length');
    const end = typeBytes + length;
    if (this.rest.length < end) return undefined;
    const message = this.rest.subarray(0, end);
    this.rest = this.rest.subarray(end);
    return message;
  }

  /** Called after the startup message: all later messages have a type byte. */
  start(): void {
    this.isStarted = true;
  }
}

/** A message of this type whose only fields are these texts. */
export function message(type: number, ...texts: string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const header = Buffer.alloc(HEADER_BYTES, type);
  header.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([header, body]);
}

/** A StartupMessage of protocol 3.0 for the user and database `postgres`. */
export const STARTUP = Buffer.from('\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1');

export const SYNC = message(Frontend.sync);

export function readyForQuery(status: number): Buffer {
  return Buffer.from([Backend.readyForQuery, 0, 0, 0, 5, status]);
}

export function errorResponse(severity: 'ERROR' | 'FATAL', sqlState: string, text: string): Buffer {
  return message(Backend.error, `S${severity}`, `V${severity}`, `C${sqlState}`, `M${text}`, '');
}

/** A message that closes a prepared statement. Closing a statement that does not exist is not an error. */
export function closeStatement(name: string): Buffer {
  return message(Frontend.close, `S${name}`);
}

/** The text of an ErrorResponse that ended the session; `undefined` if the error did not end it. */
export function fatalText(error: Buffer): string | undefined {
  const fields = error.toString('utf8', HEADER_BYTES).split('\0');
  if (!fields.includes('VFATAL') && !fields.includes('VPANIC')) return undefined;
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? '';
}

/**
 * The name of the prepared statement in a message, and the offset of the name; `undefined` if the message has no such name.
 */
export function statementNameOf(message: Buffer): { at: number; name: string } | undefined {
  const at = nameOffset(message);
  const end = at === undefined ? -1 : message.indexOf(0, at);
  return at === undefined || end < 0 ? undefined : { at, name: message.toString('utf8', at, end) };
}

function nameOffset(message: Buffer): number | undefined {
  switch (message[0]) {
    case Frontend.parse:
      return HEADER_BYTES;
    case Frontend.bind: {
      const portalEnd = message.indexOf(0, HEADER_BYTES);
      return portalEnd < 0 ? undefined : portalEnd + 1;
    }
    case Frontend.describe:
    case Frontend.close:
      return message[HEADER_BYTES] === STATEMENT ? HEADER_BYTES + 1 : undefined;
  }
  return undefined;
}

/** The message with `text` inserted at an offset. */
export function insertText(message: Buffer, at: number, text: string): Buffer {
  const longer = Buffer.concat([message.subarray(0, at), Buffer.from(text), message.subarray(at)]);
  longer.writeUInt32BE(longer.length - 1, 1);
  return longer;
}
