import type { Gateway } from '../helper/gateway';

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
  const space = on.indexOf(' ');
  const method = on.slice(0, space) as 'GET';
  const type = body === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const given = Object.entries({ ...type, ...headers }).filter(([, value]) => value !== undefined);
  const response = await gateway.app.inject({
    method,
    url: on.slice(space + 1),
    headers: Object.fromEntries(given) as Record<string, string>,
    ...(body !== undefined && {
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    }),
  });
  const text = response.payload;
  const isJson = text !== '' && String(response.headers['content-type']).startsWith('application/json');
  return {
    status: response.statusCode,
    headers: response.headers as Answer['headers'],
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
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

/** @returns all data, to check that a rejected request has changed nothing. */
export async function contentOf(gateway: Gateway): Promise<string> {
  const paths = ['/categories', '/pets', '/store/orders', '/store/inventory'];
  const answers = await Promise.all(paths.map((path) => send(gateway, `GET ${path}`)));
  return answers.map(({ text }) => text).join('\n');
}
