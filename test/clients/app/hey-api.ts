import { client } from './generated/hey-api/client.gen.js';
import {
  createPet,
  getInventory,
  listPets,
  placeOrder,
  removeInventory,
  setInventory,
  updatePet,
} from './generated/hey-api/sdk.gen.js';
import type { PlaceOrderErrors } from './generated/hey-api/types.gen.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

client.setConfig({ baseUrl: url, auth: key, fetch: patientFetch });

const created = await createPet({ body: { name: 'Generated', categoryId: 1 } });
const id = created.data?.id ?? 0;
const found = await listPets({ query: { id: [id], status: ['available', 'pending'] } });
const renamed = await updatePet({ path: { petId: id }, body: { name: 'Renamed' }, headers: { 'If-Match': '*' } });
const outdated = await updatePet({ path: { petId: id }, body: { name: 'Lost' }, headers: { 'If-Match': '"old"' } });

await setInventory({ path: { petId: id }, body: { quantity: 2 } });
const once = { 'Idempotency-Key': crypto.randomUUID() };
const order = () =>
  placeOrder({ body: { petId: id, quantity: 2, shipDate: '2026-12-01T09:00:00+01:00' }, headers: once });
const [first, again] = [await order(), await order()];
const refused = await placeOrder({ body: { petId: id, quantity: 1 } });

/** Errors have their type by status, and their code. */
function reasonOf(error: PlaceOrderErrors[keyof PlaceOrderErrors] | undefined): string | undefined {
  return error?.code === 'INSUFFICIENT_STOCK' ? 'sold out' : error?.code;
}

report({
  created: [created.response?.status, created.response?.headers.get('location') === `/pets/${id}`],
  found: found.data?.map(({ name, status }) => [name, status]),
  renamed: renamed.data?.name,
  outdated: outdated.error?.code,
  orders: [first.data?.id === again.data?.id, first.data?.shipDate, again.response?.headers.get('idempotent-replayed')],
  left: (await getInventory({ path: { petId: id } })).data?.quantity,
  refused: reasonOf(refused.error),
  removed: (await removeInventory({ path: { petId: id } })).response?.status,
  wrong: (await createPet({ body: { name: '', categoryId: 1 } })).error?.details,
  thrown: await listPets({ query: { limit: 1000 }, throwOnError: true }).catch(({ code }) => code),
});

/** What the types refuse: it does not compile without these remarks, and is not run. */
export const wrong = () => [
  // @ts-expect-error -- there is no such status
  listPets({ query: { status: ['lost'] } }),
  // @ts-expect-error -- a name has to be given
  createPet({ body: { categoryId: 1 } }),
];
