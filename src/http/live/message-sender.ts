import type { WebSocket } from 'ws';
import { chunksOf } from '../send-responses';
import type { UnsentResponse } from '../unsent-responses';

/**
 * Sends the messages of a WebSocket. Sends a large message in fragments (RFC 6455, section 5.4), because only the end of a
 * write shows that the client is reading.
 */
export class MessageSender {
  /** Settles when all messages are sent that are sent in fragments, or that wait for such a message. */
  private queue: Promise<void> | undefined;

  constructor(private readonly webSocket: WebSocket) {}

  /** @returns a promise that is fulfilled when the message is sent, or the connection is closed. */
  send(text: string, hold: (bytes: number) => UnsentResponse): Promise<void> {
    const fragments = chunksOf(text);
    const unsent = hold(sizeOf(fragments));
    if (!this.queue && fragments.length === 1) return this.sendFragments(fragments, unsent);
    const sending = (this.queue ?? Promise.resolve()).then(() => this.sendFragments(fragments, unsent));
    this.queue = sending;
    void sending.then(() => {
      if (this.queue === sending) this.queue = undefined;
    });
    return sending;
  }

  private async sendFragments(fragments: Buffer[], unsent: UnsentResponse): Promise<void> {
    const { webSocket } = this;
    for (let next = fragments.shift(); next && webSocket.readyState === webSocket.OPEN; next = fragments.shift()) {
      const fragment = next;
      const fin = fragments.length === 0;
      await new Promise<void>((resolve) => webSocket.send(fragment, { binary: false, fin }, () => resolve()));
      unsent.resize(sizeOf(fragments));
    }
    unsent.release();
  }
}

function sizeOf(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}
