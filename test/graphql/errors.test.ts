import { getIntrospectionQuery, isEnumType } from 'graphql';
import { ERROR_CODES } from '../../src/errors/error-codes';
import { errorsOf } from '../../src/graphql/errors-directive';
import { buildSchema, type Services } from '../../src/graphql/schema';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => fillShop(gateway.database));
afterAll(() => gateway.close());

const schema = buildSchema({} as Services);

describe('the schema', () => {
  test('has every code in the enum ErrorCode, introspection too', async () => {
    const type = schema.getType('ErrorCode');
    expect(isEnumType(type) && type.getValues().map(({ name }) => name)).toEqual(ERROR_CODES);
    const { __schema } = await gateway.data<{
      __schema: { types: { name: string; enumValues: { name: string }[] }[] };
    }>(getIntrospectionQuery());
    const seen = __schema.types.find(({ name }) => name === 'ErrorCode');
    expect(seen?.enumValues.map(({ name }) => name)).toEqual(ERROR_CODES);
  });

  test.each<[string, string[]]>([
    ['createPet', ['BAD_USER_INPUT', 'UNKNOWN_REFERENCE']],
    ['updatePet', ['BAD_USER_INPUT', 'NOT_FOUND', 'UNKNOWN_REFERENCE']],
    ['deletePet', ['NOT_FOUND', 'PET_HAS_ORDERS']],
    ['deleteCategory', ['NOT_FOUND', 'CATEGORY_NOT_EMPTY']],
    ['updateOrder', ['BAD_USER_INPUT', 'NOT_FOUND', 'INSUFFICIENT_STOCK', 'ORDER_COMPLETE', 'UNKNOWN_REFERENCE']],
    ['removeInventory', ['NOT_FOUND']],
  ])('names the errors of %s in its directive and its description: %j', (name, codes) => {
    const field = schema.getMutationType()?.getFields()[name];
    expect(field && errorsOf(field)).toEqual(codes);
    expect(field?.description).toContain(`Errors: ${codes.join(', ')}.`);
  });

  test('names errors for every mutation, all of which may be null', () => {
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      expect([field.name, errorsOf(field).length > 0]).toEqual([field.name, true]);
      expect([field.name, String(field.type)]).toEqual([field.name, expect.not.stringMatching(/!$/)]);
    }
  });
});

describe('a mutation of several fields', () => {
  const query = `mutation {
    a: createCategory(input: { name: "A" }) { name }
    b: deletePet(id: 999) { id }
    c: createCategory(input: { name: " " }) { name }
    d: createCategory(input: { name: "D" }) { name }
  }`;

  test('answers each, and keeps what was done', async () => {
    const { status, data, errors } = await gateway.graphql(query);
    expect([status, data]).toEqual([200, { a: { name: 'A' }, b: null, c: null, d: { name: 'D' } }]);
    expect(errors.map(({ path, extensions }) => [path, extensions?.code])).toEqual([
      [['b'], 'NOT_FOUND'],
      [['c'], 'BAD_USER_INPUT'],
    ]);
    const { categories } = await gateway.data('{ categories { nodes { name } } }');
    expect(categories?.nodes?.map(({ name }) => name)).toEqual(expect.arrayContaining(['A', 'D']));
  });

  test('over the limit runs none of them, and has no data', async () => {
    const { headers } = await gateway.createKey({ plan: 'ENTERPRISE', perMinute: 4, perDay: 100 });
    await gateway.graphql('{ pets { totalCount } }', undefined, headers);
    const refused = await gateway.graphql(query, undefined, headers);
    expect([refused.status, refused.data]).toEqual([429, undefined]);
    expect(refused.errors.map(({ extensions }) => extensions?.code)).toEqual(['RATE_LIMITED']);
  });
});
