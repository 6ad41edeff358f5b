import { getIntrospectionQuery, isEnumType } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { gatewayDomains } from '../../src/app/domains';
import { errorsOf } from '../../src/graphql/directives';
import { type Gateway, startGateway } from '../helper/gateway';

const CATALOGUE = gatewayDomains().errors;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const schema = contractSchema();

describe('the schema', () => {
  test('has every error code in the enum ErrorCode, and in the introspection result', async () => {
    const type = schema.getType('ErrorCode');
    expect(isEnumType(type) && type.getValues().map(({ name }) => name)).toEqual([...CATALOGUE.keys()]);
    const { __schema } = await gateway.data<{
      __schema: { types: { name: string; enumValues: { name: string }[] }[] };
    }>(getIntrospectionQuery());
    const seen = __schema.types.find(({ name }) => name === 'ErrorCode');
    expect(seen?.enumValues.map(({ name }) => name)).toEqual([...CATALOGUE.keys()]);
  });

  test.each<[string, string[]]>([
    ['createPet', ['BAD_USER_INPUT', 'UNKNOWN_REFERENCE']],
    ['updatePet', ['BAD_USER_INPUT', 'NOT_FOUND', 'PRECONDITION_FAILED', 'UNKNOWN_REFERENCE']],
    ['deletePet', ['NOT_FOUND', 'PRECONDITION_FAILED', 'PET_HAS_ORDERS']],
    ['deleteCategory', ['NOT_FOUND', 'PRECONDITION_FAILED', 'CATEGORY_NOT_EMPTY']],
    [
      'updateOrder',
      [
        'BAD_USER_INPUT',
        'FORBIDDEN',
        'NOT_FOUND',
        'PRECONDITION_FAILED',
        'INSUFFICIENT_STOCK',
        'ORDER_COMPLETE',
        'UNKNOWN_REFERENCE',
      ],
    ],
    ['removeInventory', ['NOT_FOUND', 'PRECONDITION_FAILED']],
  ])('names the errors of %s in the directive @errors and in the description: %j', (name, codes) => {
    const field = schema.getMutationType()?.getFields()[name];
    expect(field && errorsOf(field)).toEqual(codes);
    expect(field?.description).toContain(`Errors: ${codes.join(', ')}.`);
  });

  test('names errors for every mutation, and every mutation field is nullable', () => {
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
      expect([field.name, errorsOf(field).length > 0]).toEqual([field.name, true]);
      expect([field.name, String(field.type)]).toEqual([field.name, expect.not.stringMatching(/!$/)]);
    }
  });
});
