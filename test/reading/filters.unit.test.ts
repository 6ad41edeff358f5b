import type { GraphQLInputObjectType } from 'graphql';
import type { Table } from '../../src/database/reading/table';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { CATEGORIES, INVENTORY, ORDERS, PETS } from '../../src/petstore/tables';

const SCHEMA = buildSchema({} as Services);

const LISTS: readonly [input: string, table: Pick<Table<object>, 'filters'>][] = [
  ['PetFilter', PETS],
  ['CategoryFilter', CATEGORIES],
  ['OrderFilter', ORDERS],
  ['InventoryFilter', INVENTORY],
];

test('every input of filters is held', () => {
  const inputs = Object.keys(SCHEMA.getTypeMap()).filter((name) => /(?<!Change)Filter$/.test(name));
  expect(LISTS.map(([input]) => input).sort()).toEqual(inputs.sort());
});

describe.each(LISTS)('%s', (input, { filters }) => {
  test('has the filters that its table has', () => {
    const fields = (SCHEMA.getType(input) as GraphQLInputObjectType).getFields();
    expect(Object.keys(fields).sort()).toEqual(Object.keys(filters).sort());
  });

  test('has at most one filter that reads ranges of an order', () => {
    const ranges = Object.entries(filters).filter(([, { kind }]) => kind === 'name' || kind === 'atMost');
    expect(ranges.map(([name]) => name).slice(1)).toEqual([]);
  });
});
