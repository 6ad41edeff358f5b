import type { Gateway } from '../helper/gateway';
import { ask } from '../http/client';

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  text: string;
  /** The parsed JSON body, or `undefined` if there is no body. */
  json: unknown;
}

/**
 * Sends a REST request, such as `GET /pets/1`. A body that is not a string is sent as JSON.
 * @param headers sent in addition to the content type of the body; `'content-type': undefined` sends no content type.
 */
export async function send(
  gateway: Gateway,
  on: string,
  body?: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<Answer> {
  const { status, headers: received, text, json } = await ask(gateway, on, { body, headers });
  return { status, headers: received, text, json };
}

/** An error body with these details; its other fields are not checked. */
export function badInput(...details: { path: string; message: string }[]) {
  return {
    code: 'BAD_USER_INPUT',
    status: 400,
    message: details.map(({ path, message }) => `${path}: ${message}`).join('; '),
    details,
  };
}
