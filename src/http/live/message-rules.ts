import { CloseCode, MessageType } from 'graphql-ws';
import { LRUCache } from 'lru-cache';

/** RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008;

/** Messages a second that a caller may send in the long run. What it sends more of it must have saved before. */
const PER_SECOND = 100;
/** Bytes that count as a message, whatever they are: frames may be empty, and no message may ever end. */
const BYTES = 10 * 1024;
/** Nesting levels in a message; `JSON.stringify` and graphql-js recurse. */
const MAX_DEPTH = 100;

const SENT_BY_CLIENTS: readonly unknown[] = [
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
];

/** Why a connection is closed. */
export interface Fault {
  readonly code: number;
  readonly reason: string;
}

export const TOO_OFTEN: Fault = {
  code: POLICY_VIOLATION,
  reason: `More than ${PER_SECOND} messages, or ${(PER_SECOND * BYTES) / 1024} KiB, a second`,
};
const TOO_DEEP = invalid(`A message has at most ${MAX_DEPTH} nesting levels`);
const NOT_A_MESSAGE = invalid('Invalid message received');

/** Callers whose allowances are remembered; those that sent nothing for longest are forgotten, as if they had saved all. */
const MAX_CALLERS = 10_000;

/** What each caller may send, over all its connections together. */
export function messageAllowances(burst: number): LRUCache<string, MessageAllowance> {
  return new LRUCache({ max: MAX_CALLERS, memoMethod: () => new MessageAllowance(burst) });
}

/** How much one caller may send: as much as it could have since its last message, up to `burst` messages at once. */
class MessageAllowance {
  private left: number;
  private at: number;

  /** @param burst at least what a client sends that connects again and starts its operations. */
  constructor(private readonly burst: number) {
    this.left = burst;
    this.at = performance.now();
  }

  takeMessage(): Fault | undefined {
    return this.take(1);
  }

  takeBytes(bytes: number): Fault | undefined {
    return this.take(bytes / BYTES);
  }

  private take(messages: number): Fault | undefined {
    const now = performance.now();
    this.left = Math.min(this.burst, this.left + ((now - this.at) * PER_SECOND) / 1000);
    this.at = now;
    if (this.left < messages) return TOO_OFTEN;
    this.left -= messages;
    return undefined;
  }
}

/** What is wrong with a message that graphql-ws would throw at, or copy by recursion. */
export function faultIn(text: string): Fault | undefined {
  let message: { type?: unknown } | null;
  try {
    message = JSON.parse(text);
  } catch {
    return NOT_A_MESSAGE;
  }
  if (!SENT_BY_CLIENTS.includes(message?.type)) return NOT_A_MESSAGE;
  return isDeeper(message, MAX_DEPTH) ? TOO_DEEP : undefined;
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1));
}

function invalid(reason: string): Fault {
  return { code: CloseCode.BadRequest, reason };
}
