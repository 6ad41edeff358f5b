import { ADMIN_KEY } from './gateway';
import type { Asked, Tried } from './load';

export const HEADERS = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };

/** Typical requests: reads and writes in REST and GraphQL, through prepared statements and Prisma. */
export function mixed(index: number): Asked {
  const post = (path: string, value: object) => ({
    method: 'POST',
    path,
    headers: HEADERS,
    body: JSON.stringify(value),
  });
  if (index % 4 === 0) return post('/categories', { name: `Kind ${index}` });
  if (index % 4 === 1) return { path: '/categories?limit=5', headers: HEADERS };
  if (index % 4 === 2) return post('/store/orders', { quantity: 1 });
  return post('/graphql', { query: '{ pet(id: 1) { id } }' });
}

/** Whether the request succeeded. GraphQL responds with 200 even if a field failed, so the body is checked too. */
export function isServed({ status, body = '' }: Tried): boolean {
  return (status === 200 || status === 201) && !body.includes('"errors"');
}

export function isUnavailable({ status, body = '' }: Tried): boolean {
  if (status !== 200 && status !== 503) return false;
  const { code, errors } = JSON.parse(body);
  return (code ?? errors?.[0].extensions.code) === 'SERVICE_UNAVAILABLE';
}

/** The ids of the categories that {@link mixed} created, according to the responses. */
export function madeCategories(tried: readonly Tried[]): string[] {
  return tried
    .filter(({ status, body = '' }) => status === 201 && body.includes('"Kind '))
    .map(({ body = '' }) => String(JSON.parse(body).id));
}
