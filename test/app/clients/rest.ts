import createClient from 'openapi-fetch';
import type { components, paths } from './generated/openapi.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

type Pet = components['schemas']['Pet'];

const petstore = createClient<paths>({ baseUrl: url, headers: { 'x-api-key': key }, fetch: patientFetch });

async function allPets(status: NonNullable<Pet['status']>[], limit = 100): Promise<Pet[]> {
  const pets: Pet[] = [];
  let cursor: string | undefined;
  do {
    const { data, error, response } = await petstore.GET('/pets', {
      params: { query: { limit, status, cursor } },
    });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    pets.push(...data);
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    cursor = next && (new URL(next, url).searchParams.get('cursor') ?? undefined);
  } while (cursor);
  return pets;
}

/** Places an order once, even if the request is repeated, because each attempt has the same idempotency key. */
async function order(petId: number, quantity: number, idempotencyKey = crypto.randomUUID()) {
  const { data, error, response } = await petstore.POST('/store/orders', {
    params: { header: { 'Idempotency-Key': idempotencyKey } },
    body: { petId, quantity },
  });
  if (error?.code === 'INSUFFICIENT_STOCK') return 'sold out';
  if (error) throw new Error(`${error.code}: ${error.message} (request ${response.headers.get('x-request-id')})`);
  return data.id;
}

/** Adds to the stock of a pet. If another client has changed the stock in the meantime, reads it again and retries. */
async function addStock(petId: number, units: number): Promise<number> {
  const path = { petId };
  for (let attempt = 1; ; attempt++) {
    const read = await petstore.GET('/store/inventory/{petId}', { params: { path } });
    if (read.error) throw new Error(`${read.error.code}: ${read.error.message}`);
    const { data, error } = await petstore.PUT('/store/inventory/{petId}', {
      params: { path, header: { 'If-Match': read.response.headers.get('etag') ?? '*' } },
      body: { quantity: read.data.quantity + units },
    });
    if (data) return data.quantity;
    if (error.code !== 'PRECONDITION_FAILED' || attempt === 10) throw new Error(`${error.code}: ${error.message}`);
  }
}

const once = crypto.randomUUID();
report({
  pets: (await allPets(['available', 'pending', 'sold'], 2)).map(({ id, name }) => `${id} ${name}`),
  orders: [await order(1, 2, once), await order(1, 2, once), await order(1, 1000)],
  stock: (await petstore.GET('/store/inventory/{petId}', { params: { path: { petId: 1 } } })).data?.quantity,
  added: (await Promise.all([1, 2, 3].map(() => addStock(1, 10)))).sort((a, b) => a - b),
  refused: (
    await petstore.PUT('/categories/{categoryId}', {
      params: { path: { categoryId: 1 } },
      body: { name: '' },
    })
  ).error?.details,
});

/** Requests that the types reject. They compile only because the errors are marked as expected. They are never sent. */
export const refused = () => [
  // @ts-expect-error -- there is no such status
  petstore.GET('/pets', { params: { query: { status: ['lost'] } } }),
  // @ts-expect-error -- a name has to be given
  petstore.POST('/pets', { body: { categoryId: 1 } }),
  // @ts-expect-error -- a list of pets cannot be out of stock
  petstore.GET('/pets').then(({ error }) => error?.code === 'INSUFFICIENT_STOCK'),
];
