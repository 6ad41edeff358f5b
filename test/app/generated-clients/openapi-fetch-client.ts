import createClient from 'openapi-fetch';
import type { paths } from './openapi';
import { type Outcome, play } from './scenario';

/** @param baseUrl by default the client calls the server of its page. */
export function run(key: string, baseUrl?: string): Promise<Outcome> {
  const client = createClient<paths>({ ...(baseUrl && { baseUrl }), headers: { 'X-API-Key': key } });
  return play({
    createPet: (body) => client.POST('/pets', { body }),
    listPets: (query) => client.GET('/pets', { params: { query } }),
    placeOrder: (body) => client.POST('/store/orders', { body }),
    getCategory: (categoryId) => client.GET('/categories/{categoryId}', { params: { path: { categoryId } } }),
  });
}
