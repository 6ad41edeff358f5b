import { type GraphQLInputObjectType, type GraphQLObjectType, getNamedType, isEnumType } from 'graphql';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const SCHEMA = buildSchema({} as Services);

/** Two values of each type: to create with, and to update to. */
const VALUES: Readonly<Record<string, readonly [unknown, unknown]>> = {
  ID: ['1', '2'],
  Int: [2, 3],
  String: ['Mia', 'Max'],
  Boolean: [false, true],
  DateTime: ['2026-12-01T09:30:00.000Z', '2026-12-02T09:30:00.000Z'],
};

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

/** An input with all of its fields. */
function filled(name: string, which: 0 | 1): Record<string, unknown> {
  const input = SCHEMA.getType(name) as GraphQLInputObjectType;
  const fields = Object.values(input.getFields()).map((field) => {
    const type = getNamedType(field.type);
    const values = isEnumType(type)
      ? type
          .getValues()
          .slice(-2)
          .map((each) => each.name)
      : VALUES[type.name];
    if (!values) throw new Error(`VALUES has none of the type ${type.name}`);
    return [field.name, values[which]];
  });
  return Object.fromEntries(fields);
}

describe.each([
  ['Pet', 'createPet', 'NewPet', 'updatePet', 'PetUpdate'],
  ['Category', 'createCategory', 'NewCategory', 'updateCategory', 'CategoryUpdate'],
  ['Order', 'placeOrder', 'NewOrder', 'updateOrder', 'OrderUpdate'],
])('%s', (type, create, newInput, update, updateInput) => {
  test(`${create} and ${update} keep every field of their inputs`, async () => {
    const first = filled(newInput, 0);
    const second = filled(updateInput, 1);
    const given = Object.keys({ ...first, ...second });
    const fields = Object.keys((SCHEMA.getType(type) as GraphQLObjectType).getFields());
    expect(fields).toEqual(expect.arrayContaining(given));
    const selection = `{ id ${given.join(' ')} }`;

    const created = await gateway.data(
      `mutation ($input: ${newInput}!) { row: ${create}(input: $input) ${selection} }`,
      { input: first },
    );
    expect(created.row).toMatchObject(first);

    const updated = await gateway.data(
      `mutation ($id: ID!, $input: ${updateInput}!) { row: ${update}(id: $id, input: $input) ${selection} }`,
      { id: created.row?.id, input: second },
    );
    expect(updated.row).toEqual({ ...created.row, ...second });
  });
});
