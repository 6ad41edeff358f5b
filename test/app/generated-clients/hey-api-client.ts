import { createPet, getCategory, listPets, placeOrder } from './hey-api';
import { client } from './hey-api/client.gen';
import { nextCursor, type Outcome } from './outcome';

/** @param baseUrl by default the client calls the server of its page. */
export async function run(key: string, baseUrl?: string): Promise<Outcome> {
  client.setConfig({ auth: (auth) => (auth.type === 'apiKey' ? key : undefined), ...(baseUrl && { baseUrl }) });
  const created = [
    await createPet({ body: { name: 'Luna', categoryId: 1 } }),
    await createPet({ body: { name: 'Tom', categoryId: 1, status: 'sold' } }),
  ].map(({ data }) => data);
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { data, error, response } = await listPets({
      query: { limit: 1, status: ['available', 'sold'], sort: '-name', ...(cursor && { cursor }) },
    });
    if (error) throw new Error(error.message);
    pages.push(data.map(({ name }) => name));
    cursor = nextCursor(response.headers.get('link'));
  } while (cursor);
  const order = await placeOrder({ body: { petId: created[0]?.id, quantity: 2 } });
  const invalid = await createPet({ body: { name: '', categoryId: 1 } });
  const missing = await getCategory({ path: { categoryId: 77 } });
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
