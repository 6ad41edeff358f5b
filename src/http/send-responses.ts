import { Readable, type Writable } from 'node:stream';
import type { onSendHookHandler } from 'fastify';
import { replaceResponse } from './replace-response';
import type { RequestsInProgress } from './requests-in-progress';
import type { UnsentResponse } from './unsent-responses';

/** Maximum number of bytes per write. Only the end of a write shows that the client is reading. */
const CHUNK = 64 * 1024;

/**
 * Replaces a response by 429 or 503 if its caller has too many unsent bytes. The response of a mutation is always sent,
 * since its changes remain.
 */
export function rejectUnsentResponses(requests: RequestsInProgress): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    const { caller, route, method, observer } = request;
    const isAlwaysSent = route.metering === 'unmetered' || method === 'OPTIONS' || observer?.kind === 'mutation';
    if (isAlwaysSent || reply.statusCode >= 400) return done(null, payload);
    const rejection = requests.unsent.rejectionOf(caller);
    if (!rejection) return done(null, payload);
    requests.rejected += 1;
    request.meter.waive();
    done(null, replaceResponse(request, reply, payload, rejection));
  };
}

/**
 * Counts the response as unsent until it is sent, and stops counting its request as in progress. Sends a large response in
 * chunks. Event streams count their own bytes.
 */
export function sendResponses(requests: RequestsInProgress): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    const { slot, caller } = request;
    // Without `reply`, the client has disconnected.
    if (!slot.reply || slot.unsent || payload instanceof Readable) return done(null, payload);
    // A file is one buffer for all of its responses, so it counts no bytes.
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
    slot.unsent = requests.unsent.hold(caller, request.raw.socket, bytes);
    requests.responseReady(slot);
    const isLarge = (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length > CHUNK;
    if (!isLarge || request.method === 'HEAD') return done(null, payload);
    reply.header('content-length', bytes || payload.length);
    done(null, new ChunkedBody(chunksOf(payload), bytes, reply.raw, slot.unsent));
  };
}

/**
 * Splits a body for separate writes. The chunks of a text are separate buffers. A waiting text would take memory on the heap, and
 * parts of one large buffer would keep the whole buffer in memory.
 */
export function chunksOf(body: string | Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0, end = 0; start < body.length; start = end) {
    end = start + CHUNK;
    if (typeof body !== 'string') chunks.push(body.subarray(start, end));
    else {
      if (isHighSurrogate(body.charCodeAt(end - 1))) end -= 1;
      chunks.push(Buffer.from(body.slice(start, end)));
    }
  }
  return chunks;
}

function isHighSurrogate(codeUnit: number): boolean {
  return codeUnit >= 0xd800 && codeUnit < 0xdc00;
}

/** Sends the chunks of a body only as fast as the client reads. */
class ChunkedBody extends Readable {
  /** @param bytes the number of bytes that count as unsent. */
  constructor(
    private readonly chunks: Buffer[],
    private bytes: number,
    private readonly response: Writable,
    private readonly unsent: UnsentResponse,
  ) {
    super({ highWaterMark: CHUNK });
  }

  override _read(): void {
    const chunk = this.chunks.shift();
    this.bytes -= chunk?.length ?? 0;
    this.push(chunk ?? null);
    this.unsent.resize(Math.max(0, this.bytes) + this.readableLength + this.response.writableLength);
  }
}
