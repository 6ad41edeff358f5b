import createClient from 'openapi-fetch';
import type { paths } from './openapi';
import { nextCursor, type Outcome } from './outcome';

/** @param baseUrl by default the client calls the server of its page. */
export async function run(key: string, baseUrl?: string): Promise<Outcome> {
  const client = createClient<paths>({ ...(baseUrl && { baseUrl }), headers: { 'X-API-Key': key } });
  const created = [
    await client.POST('/pets', { body: { name: 'Luna', categoryId: 1 } }),
    await client.POST('/pets', { body: { name: 'Tom', categoryId: 1, status: 'sold' } }),
  ].map(({ data }) => data);
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1, status: ['available' as const, 'sold' as const], sort: '-name' as const, cursor };
    const { data, error, response } = await client.GET('/pets', { params: { query } });
    if (error) throw new Error(error.message);
    pages.push(data.map(({ name }) => name));
    cursor = nextCursor(response.headers.get('link'));
  } while (cursor);
  const order = await client.POST('/store/orders', { body: { petId: created[0]?.id, quantity: 2 } });
  const invalid = await client.POST('/pets', { body: { name: '', categoryId: 1 } });
  const missing = await client.GET('/categories/{categoryId}', { params: { path: { categoryId: 77 } } });
  return {
    created: created.map((pet) => pet?.status),
    pages,
    ordered: { petId: order.data?.petId, quantity: order.data?.quantity },
    errors: [
      [invalid.error?.code, invalid.error?.details?.map(({ path }) => path)],
      [missing.error?.code, missing.error?.status],
    ],
  };
}
