import { type Outcome, play } from './scenario';
import { Api, type HttpResponse } from './swagger/Api';

/** @param baseUrl by default the client calls the server of its page. */
export function run(key: string, baseUrl?: string): Promise<Outcome> {
  const api = new Api({ ...(baseUrl && { baseUrl }), baseApiParams: { headers: { 'X-API-Key': key } } });
  return play({
    createPet: (pet) => settled(api.pets.createPet({ ...pet, status: pet.status as never })),
    listPets: (query) => settled(api.pets.listPets({ ...query, status: query.status as never })),
    placeOrder: (order) => settled(api.store.placeOrder(order)),
    getCategory: (categoryId) => settled(api.categories.getCategory(categoryId)),
  });
}

/** The client throws responses with an error status. The errors that it declares for a status without a body are `void`. */
async function settled<Data, Error>(request: Promise<HttpResponse<Data, Error>>) {
  const response = await request.catch((thrown: HttpResponse<Data, Error>) => thrown);
  const error = (response.error ?? undefined) as Exclude<Error, void> | undefined;
  return { data: response.data ?? undefined, error, response };
}
