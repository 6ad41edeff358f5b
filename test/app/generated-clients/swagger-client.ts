import { nextCursor, type Outcome } from './outcome';
import { Api, type HttpResponse } from './swagger/Api';

/** @param baseUrl by default the client calls the server of its page. */
export async function run(key: string, baseUrl?: string): Promise<Outcome> {
  const api = new Api({ ...(baseUrl && { baseUrl }), baseApiParams: { headers: { 'X-API-Key': key } } });
  const created = [
    await api.pets.createPet({ name: 'Luna', categoryId: 1 }),
    await api.pets.createPet({ name: 'Tom', categoryId: 1, status: 'sold' as never }),
  ].map(({ data }) => data);
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const { data, headers } = await api.pets.listPets({
      ...{ limit: 1, status: ['available', 'sold'] as never, sort: '-name', ...(cursor && { cursor }) },
    });
    pages.push(data.map(({ name }) => name));
    cursor = nextCursor(headers.get('link'));
  } while (cursor);
  const { data: order } = await api.store.placeOrder({ petId: created[0]?.id, quantity: 2 });
  // The client throws responses with an error status.
  const errorOf = <Error>(request: Promise<HttpResponse<unknown, Error>>) =>
    request.then(
      () => undefined,
      ({ error }: HttpResponse<unknown, Error>) => error,
    );
  const invalid = await errorOf(api.pets.createPet({ name: '', categoryId: 1 }));
  const missing = await errorOf(api.categories.getCategory(77));
  return {
    created: created.map(({ status }) => status),
    pages,
    ordered: { petId: order.petId, quantity: order.quantity },
    errors: [
      [invalid?.code, invalid?.details?.map(({ path }) => path)],
      [missing?.code, missing?.status],
    ],
  };
}
