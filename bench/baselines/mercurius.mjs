// Mercurius with JIT, loaders and node-postgres.
import mercurius from 'mercurius';
import { application } from './app.mjs';
import { rows, transaction } from './pool.mjs';

const schema = `
  enum PetStatus { available pending sold }
  scalar DateTime

  type Pet { id: ID! name: String! status: PetStatus! categoryId: ID! category: Category! }
  type PetConnection { nodes: [Pet!]! }
  type Category { id: ID! name: String! description: String pets(first: Int = 20): PetConnection! }
  type CategoryConnection { nodes: [Category!]! }
  type Order { id: ID! petId: ID quantity: Int shipDate: DateTime complete: Boolean! }

  input NewPet { name: String! categoryId: ID! status: PetStatus }
  input NewOrder { petId: ID quantity: Int shipDate: DateTime complete: Boolean }

  type Query {
    pet(id: ID!): Pet
    pets(first: Int = 20): PetConnection!
    categories(first: Int = 20): CategoryConnection!
  }
  type Mutation {
    createPet(input: NewPet!): Pet!
    placeOrder(input: NewOrder!): Order!
  }
`;

const PET = 'id, name, status, category_id as "categoryId"';

const resolvers = {
  Query: {
    async pet(_, { id }) {
      const [pet] = await rows('pet', `select ${PET} from pets where id = $1`, [id]);
      return pet ?? null;
    },
    async pets(_, { first }) {
      return { nodes: await rows('pets', `select ${PET} from pets order by id limit $1`, [first]) };
    },
    async categories(_, { first }) {
      const text = 'select id, name, description from categories order by id limit $1';
      return { nodes: await rows('categories', text, [first]) };
    },
  },
  Mutation: {
    async createPet(_, { input: { name, categoryId, status } }) {
      const text = `insert into pets (name, category_id, status) values ($1, $2, $3) returning ${PET}`;
      const [pet] = await rows('create-pet', text, [name, categoryId, status ?? 'available']);
      return pet;
    },
    placeOrder: (_, { input }) => transaction((client) => placeOrder(client, input)),
  },
};

async function placeOrder(client, { petId, quantity, shipDate, complete }) {
  const reserved = petId && quantity ? await reserve(client, petId, quantity) : 0;
  const { rows } = await client.query({
    name: 'place-order',
    text: `insert into orders (pet_id, quantity, ship_date, complete, reserved) values ($1, $2, $3, $4, $5)
      returning id, pet_id as "petId", quantity, ship_date as "shipDate", complete`,
    values: [petId, quantity, shipDate, complete ?? false, reserved],
  });
  return rows[0];
}

async function reserve(client, petId, quantity) {
  const { rowCount } = await client.query({
    name: 'reserve',
    text: 'update inventory set quantity = quantity - $2 where pet_id = $1 and quantity >= $2',
    values: [petId, quantity],
  });
  if (rowCount) return quantity;
  const tracked = await client.query('select 1 from inventory where pet_id = $1', [petId]);
  if (tracked.rowCount) throw new mercurius.ErrorWithProps('Not enough in stock', { code: 'INSUFFICIENT_STOCK' });
  return 0;
}

const loaders = {
  Pet: {
    category: uncached(async (queries) => {
      const ids = queries.map(({ obj }) => obj.categoryId);
      const text = 'select id, name, description from categories where id = any($1)';
      const found = await rows('categories-by-id', text, [[...new Set(ids)]]);
      const byId = new Map(found.map((category) => [category.id, category]));
      return ids.map((id) => byId.get(id));
    }),
  },
  Category: {
    pets: uncached(async (queries) => {
      const found = await rows(
        'pets-by-category',
        `select pet.* from unnest($1::bigint[], $2::int[]) as wanted (category_id, first)
         cross join lateral (
           select ${PET} from pets where category_id = wanted.category_id order by id limit wanted.first
         ) as pet`,
        [queries.map(({ obj }) => obj.id), queries.map(({ params }) => params.first)],
      );
      const byCategory = new Map(queries.map(({ obj }) => [obj.id, []]));
      for (const pet of found) byCategory.get(pet.categoryId).push(pet);
      return queries.map(({ obj }) => ({ nodes: byCategory.get(obj.id) }));
    }),
  },
};

/**
 * Disables the loader's per-request cache, which serialises objects to make its keys. The documentation of Mercurius
 * describes loaders with and without the cache. Loaders without the cache are faster.
 */
function uncached(loader) {
  return { loader, opts: { cache: false } };
}

const app = await application();
app.register(mercurius, { schema, resolvers, loaders, jit: 1 });
process.once('SIGTERM', () => process.exit());
await app.listen({ host: process.env.HOST, port: Number(process.env.PORT) });
