import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { execute, parse, validate } from 'graphql';
import { serverAudits } from 'graphql-http';
import { queries } from '../../graphql/generated-queries';
import { type Rows, rootOf, schemaOf } from '../model';
import type { Net, Scenario } from '../scenario';

const QUERIES = 250;
const SEED = Number(process.env.NET_SEED ?? 20261125);

/** Few names, dates and quantities for many rows, so that every sort has ties. */
const ROWS: Rows = rowsOf(9, 30, 25);

function rowsOf(categories: number, pets: number, orders: number): Rows {
  // U+FF5E sorts before the emoji by code point, after it by UTF-16 unit.
  const names = ['Rex', 'rex', 'Max', 'Émile', 'a b', '～', '🐕', 'a', 'aa'];
  const dates = [null, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '0099-12-31T23:59:59.999Z'];
  const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
  const nth = <T>(values: readonly T[], i: number) => values[i % values.length] as T;
  return {
    categories: ids(categories).map((id) => ({
      id,
      name: nth(names, id * 5),
      description: id % 2 ? null : `A "quoted"\nline, \\ and ${nth(names, id)}`,
    })),
    pets: ids(pets).map((id) => ({
      id,
      name: nth(names, id * 7),
      status: nth(['available', 'pending', 'sold'], id * 5 + Math.floor(id / 4)),
      categoryId: 1 + ((id * id) % 4),
    })),
    inventory: ids(pets)
      .filter((id) => id % 3)
      .map((petId) => ({ petId, quantity: (petId * 11) % 4 })),
    orders: ids(orders).map((id) => ({
      id,
      petId: id % 5 ? 1 + (id % 2) : null,
      quantity: id % 4 ? 1 + (id % 3) : null,
      shipDate: nth(dates, id),
      complete: id % 3 === 0,
    })),
  };
}

async function insert(net: Net, { categories, pets, inventory, orders }: Rows): Promise<void> {
  const all = async (fields: string[]) => {
    for (let i = 0; i < fields.length; i += 25)
      await net.prepare(
        `mutation { ${fields
          .slice(i, i + 25)
          .map((field, n) => `m${n}: ${field}`)
          .join(' ')} }`,
      );
  };
  const input = (row: object) =>
    Object.entries(row)
      .filter(([name, value]) => name !== 'id' && value !== null)
      .map(([name, value]) => `${name}: ${name === 'status' ? value : JSON.stringify(value)}`)
      .join(', ');
  await all(categories.map((row) => `createCategory(input: { ${input(row)} }) { id }`));
  await all(pets.map((row) => `createPet(input: { ${input(row)} }) { id }`));
  // Stock is set last, because placing an order would reduce it.
  await all(orders.map((row) => `placeOrder(input: { ${input(row)} }) { id }`));
  await all(
    inventory.map(({ petId, quantity }) => `setInventory(petId: ${petId}, input: { quantity: ${quantity} }) { petId }`),
  );
}

/** Replaces cursors, which are opaque, with a placeholder. `walk` tests where cursors lead. */
function withoutCursors(data: unknown): string {
  return JSON.stringify(data, (_, value) =>
    typeof value === 'string' && value.length > 3 && /^(cursor of |[\w-]{12,}$)/.test(value) ? '«text»' : value,
  );
}

export const scenarios: Scenario[] = [
  {
    name: 'generated queries',
    run: async (net) => {
      await insert(net, ROWS);
      const schema = schemaOf(readFileSync(join(__dirname, '..', '..', '..', 'schema.graphql'), 'utf8'));
      const root = rootOf(ROWS);
      let compared = 0;
      let failed = 0;
      for (const { text, variables } of fc.sample(queries(schema), { numRuns: QUERIES, seed: SEED })) {
        const document = parse(text);
        if (validate(schema, document).length) continue;
        const expected = await execute({ schema, document, rootValue: root, variableValues: variables });
        const { json } = await net.exchange('POST', '/graphql', { body: { query: text, variables } });
        const errors: { extensions?: { code?: string } }[] = json.errors ?? [];
        if (errors.some(({ extensions }) => extensions?.code === 'OPERATION_TOO_COMPLEX')) continue;
        compared++;
        const isError = Boolean(expected.errors?.length);
        if (isError) failed++;
        const isSame = isError ? errors.length > 0 : withoutCursors(json.data) === withoutCursors(expected.data);
        if (!isSame || isError !== errors.length > 0)
          throw new Error(
            `${text}\n${JSON.stringify(variables)}\nanswers\n${JSON.stringify(json)}\ninstead of\n${JSON.stringify(expected)}`,
          );
      }
      if (compared < QUERIES * 0.8 || failed > QUERIES * 0.5)
        throw new Error(`Only ${compared} of ${QUERIES} queries were compared, and ${failed} of them failed`);
      net.note('generated queries', 'The same data as graphql-js over rows in memory.');
    },
  },
  {
    name: 'graphql over http audit',
    once: true,
    run: async (net) => {
      const results = await Promise.all(
        serverAudits({ url: () => `${net.url}/graphql` }).map(async (audit) => {
          const { status } = await audit.fn();
          return `${status} ${audit.id} ${audit.name}`;
        }),
      );
      net.note('audits of graphql-http', results.join('\n'));
    },
  },
];
