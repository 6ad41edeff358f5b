import { createPet, getCategory, listPets, placeOrder } from './hey-api';
import { client } from './hey-api/client.gen';
import { type Outcome, play } from './scenario';

/** @param baseUrl by default the client calls the server of its page. */
export function run(key: string, baseUrl?: string): Promise<Outcome> {
  client.setConfig({ auth: (auth) => (auth.type === 'apiKey' ? key : undefined), ...(baseUrl && { baseUrl }) });
  return play({
    createPet: (body) => createPet({ body }),
    listPets: (query) => listPets({ query }),
    placeOrder: (body) => placeOrder({ body }),
    getCategory: (categoryId) => getCategory({ path: { categoryId } }),
  });
}
