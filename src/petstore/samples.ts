import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLCall, Samples } from '../domain/domain';

/** Mutations per request. All full requests have the same document. */
const BATCH = 25;

/**
 * The names of categories and pets in samples. A store with few categories uses only the start of the list. The path is
 * valid from `src` and `dist`.
 */
const NAMES: {
  readonly categories: readonly (readonly [name: string, description: string])[];
  readonly petNames: readonly string[];
  readonly secondNames: readonly string[];
} = JSON.parse(readFileSync(join(__dirname, '..', '..', 'prisma', 'sample-names.json'), 'utf8'));

/** The numbers of categories and orders in a sample with this many pets. */
function sampleSize(pets: number): { categories: number; orders: number } {
  const categories = Math.max(1, Math.round(Math.sqrt(pets) / 2));
  return { categories: Math.min(categories, NAMES.categories.length), orders: Math.floor(pets / 2) };
}

/**
 * Adds a realistic store to the existing data. Orders come before stock, so that no order lacks stock.
 * @param call runs a GraphQL operation whose caller has the scope WRITE.
 */
async function loadSampleData(
  call: GraphQLCall,
  pets: number,
  onProgress: (done: number, total: number) => void,
): Promise<Readonly<Record<string, number>>> {
  const random = randomNumbers(pets);
  const draw = (count: number, skew = 1) => Math.floor(random() ** skew * count);
  const pick = <T>(list: readonly T[], skew?: number) => list[draw(list.length, skew)] as T;
  const size = sampleSize(pets);
  const total = size.categories + pets + size.orders + pets;
  let done = 0;
  /** Runs a mutation once per item, in few requests. @returns the ids of the created objects. */
  const mutate = async (mutation: Mutation, items: readonly object[]) => {
    const ids: string[] = [];
    for (let start = 0; start < items.length; start += BATCH) {
      const batch = items.slice(start, start + BATCH);
      ids.push(...(await runAll(call, mutation, batch)));
      done += batch.length;
      onProgress(done, total);
    }
    return ids;
  };

  const kinds = NAMES.categories.slice(0, size.categories);
  const newCategories = kinds.map(([name, description]) => ({ input: { name, description } }));
  const categoryIds = await mutate(CREATE_CATEGORY, newCategories);

  const newPets = Array.from({ length: pets }, () => {
    const second = random() < 0.15 ? ` ${pick(NAMES.secondNames)}` : '';
    const status = pick(STATUSES);
    return { input: { name: pick(NAMES.petNames) + second, status, categoryId: pick(categoryIds, 2) } };
  });
  const petIds = await mutate(CREATE_PET, newPets);

  const newOrders = Array.from({ length: size.orders }, () => {
    const complete = random() < 0.65;
    const hasDate = complete || random() < 0.75;
    const days = complete ? -1 - draw(180) : 1 + draw(42);
    const shipDate = hasDate ? new Date(OPENING + (days * 24 + draw(10)) * HOUR_MS).toISOString() : undefined;
    return { input: { petId: pick(petIds), quantity: 1 + draw(5, 3), shipDate, complete } };
  });
  await mutate(PLACE_ORDER, newOrders);

  const stocked = newPets.flatMap(({ input: { status } }, i) =>
    random() < 0.6 ? [{ petId: petIds[i], input: { quantity: status === 'sold' ? 0 : draw(40, 2) } }] : [],
  );
  await mutate(SET_INVENTORY, stocked);
  onProgress(total, total);
  return { pets, categories: size.categories, orders: size.orders, 'stock entries': stocked.length };
}

/** Two thirds of the pets are available. */
const STATUSES = ['available', 'available', 'available', 'available', 'pending', 'sold'];
const HOUR_MS = 3_600_000;
/** Complete orders were shipped in the half year before this day, 8 o'clock. */
const OPENING = Date.UTC(2026, 10, 21, 8);

interface Mutation {
  readonly field: string;
  /** The types of the arguments. */
  readonly types: Readonly<Record<string, string>>;
  readonly idField: string;
}

const CREATE_CATEGORY: Mutation = { field: 'createCategory', types: { input: 'NewCategory!' }, idField: 'id' };
const CREATE_PET: Mutation = { field: 'createPet', types: { input: 'NewPet!' }, idField: 'id' };
const PLACE_ORDER: Mutation = { field: 'placeOrder', types: { input: 'NewOrder!' }, idField: 'id' };
const SET_INVENTORY: Mutation = {
  field: 'setInventory',
  types: { petId: 'ID!', input: 'InventoryUpdate!' },
  idField: 'petId',
};

/** Runs a mutation once per item in a single request. @returns the ids of the results. */
async function runAll(
  call: GraphQLCall,
  { field, types, idField }: Mutation,
  items: readonly object[],
): Promise<string[]> {
  const names = Object.keys(types);
  const each = <T>(write: (i: number) => T) => items.map((_item, i) => write(i));
  const variables = each((i) => names.map((name) => `$${name}${i}: ${types[name]}`).join(', ')).join(', ');
  const fields = each(
    (i) => `m${i}: ${field}(${names.map((name) => `${name}: $${name}${i}`).join(', ')}) { id: ${idField} }`,
  );
  const values = Object.fromEntries(
    items.flatMap((item, i) => Object.entries(item).map(([name, value]) => [`${name}${i}`, value])),
  );
  const results = await call<Record<string, { id: string }>>(`mutation (${variables}) { ${fields.join(' ')} }`, values);
  return each((i) => results[`m${i}`]?.id ?? '');
}

/** Pseudo-random numbers in [0, 1) (mulberry32). The same seed gives the same numbers. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The sample data that `npm run seed` loads. */
export const SAMPLES: Samples = {
  what: 'categories, pets, orders and stock',
  unit: 'pets',
  default: 500,
  max: 100_000,
  scaled: 'orders and categories are scaled to match',
  load: loadSampleData,
};
