import type { Duplex } from 'node:stream';

/** Encodes a message of the wire protocol. With it, tests send sequences of messages that node-postgres never sends. */
const withLength = (type: string, body: Buffer) => {
  const header = Buffer.alloc(type.length + 4);
  header.write(type, 'latin1');
  header.writeUInt32BE(4 + body.length, type.length);
  return Buffer.concat([header, body]);
};
const texts = (...values: string[]) => Buffer.from(values.map((value) => `${value}\0`).join(''));
const int16 = (...values: number[]) => Buffer.concat(values.map((value) => Buffer.from([value >> 8, value & 255])));
const int32 = (value: number) => Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]);

export const send = {
  startup: () => withLength('', Buffer.concat([int32(196608), texts('user', 'postgres', 'database', 'postgres', '')])),
  cancel: () => withLength('', Buffer.concat([int32(80877102), int32(1), int32(1)])),
  query: (sql: string) => withLength('Q', texts(sql)),
  parse: (name: string, sql: string) => withLength('P', Buffer.concat([texts(name, sql), int16(0)])),
  bind: (portal: string, name: string, values: readonly string[]) => {
    const fields = values.flatMap((value) => [int32(Buffer.byteLength(value)), Buffer.from(value)]);
    return withLength('B', Buffer.concat([texts(portal, name), int16(0, values.length), ...fields, int16(0)]));
  },
  describe: (kind: 'S' | 'P', name: string) => withLength('D', Buffer.concat([Buffer.from(kind), texts(name)])),
  close: (kind: 'S' | 'P', name: string) => withLength('C', Buffer.concat([Buffer.from(kind), texts(name)])),
  execute: (portal: string, rows = 0) => withLength('E', Buffer.concat([texts(portal), int32(rows)])),
  sync: () => withLength('S', Buffer.alloc(0)),
  flush: () => withLength('H', Buffer.alloc(0)),
  copyData: (text: string) => withLength('d', Buffer.from(text)),
  copyDone: () => withLength('c', Buffer.alloc(0)),
  terminate: () => withLength('X', Buffer.alloc(0)),
  unknown: () => withLength('y', Buffer.alloc(0)),
};

/** The fields of an ErrorResponse or a NoticeResponse. */
function fieldsOf(body: Buffer): Record<string, string> {
  const fields = body.toString('utf8').split('\0').filter(Boolean);
  return Object.fromEntries(fields.map((field) => [field.charAt(0), field.slice(1)]));
}

/** The names and type OIDs in a RowDescription. Other fields, such as the OID of the table, differ between databases. */
function columnsOf(body: Buffer): string {
  const columns: string[] = [];
  for (let at = 2; at < body.length; ) {
    const end = body.indexOf(0, at);
    columns.push(`${body.toString('utf8', at, end)}:${body.readUInt32BE(end + 7)}`);
    at = end + 19;
  }
  return columns.join();
}

/** Formats a message of the server as text, without the parts that differ between servers. */
function describeMessage(type: string, body: Buffer): string {
  switch (type) {
    case 'E':
    case 'N': {
      const { V, C } = fieldsOf(body);
      return `${type} ${V} ${C}`;
    }
    case 'T':
      return `T ${columnsOf(body)}`;
    case 'K':
      return 'K';
    default:
      return `${type} ${body.toString('latin1')}`.trim();
  }
}

/** A connection that sends messages unchanged, and records the responses as text. */
export class RawConnection {
  /** All messages of the server except ParameterStatus. */
  readonly received: string[] = [];
  isClosed = false;
  private ready = 0;
  private rest = Buffer.alloc(0);
  private waiting: (() => void) | undefined;

  constructor(readonly stream: Duplex) {
    stream.on('data', (bytes: Buffer) => {
      this.rest = Buffer.concat([this.rest, bytes]);
      this.read();
      this.waiting?.();
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.isClosed = true;
      this.waiting?.();
    });
  }

  /** @param sizes sizes of the written chunks, in bytes. The list of sizes is repeated as often as needed. */
  write(messages: readonly Buffer[], sizes: readonly number[] = [Infinity]): void {
    const bytes = Buffer.concat(messages);
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length] ?? Infinity;
      this.stream.write(bytes.subarray(at, at + size));
      at += size;
    }
  }

  /** Waits for `count` more ReadyForQuery messages, or the end of the connection. */
  async settled(count: number): Promise<void> {
    const wanted = this.ready + count;
    await this.until(() => this.ready >= wanted);
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.isClosed) await new Promise<void>((resolve) => (this.waiting = resolve));
  }

  private read(): void {
    while (this.rest.length >= 5) {
      const end = 1 + this.rest.readUInt32BE(1);
      if (this.rest.length < end) return;
      const type = String.fromCharCode(this.rest[0] ?? 0);
      const body = this.rest.subarray(5, end);
      this.rest = this.rest.subarray(end);
      if (type === 'Z') this.ready++;
      if (type !== 'S') this.received.push(describeMessage(type, body));
    }
  }
}
