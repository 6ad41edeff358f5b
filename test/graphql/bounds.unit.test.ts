import { GraphQLList, GraphQLScalarType, isInputObjectType } from 'graphql';
import { contractDocument, contractSchema } from '../../src/app/contract';
import { positionErrors, ruleOf } from '../../src/errors/input-checks';
import { checkInput, withBounds } from '../../src/graphql/bounds';
import { NewToy, ToyUpdate, toyDomains } from '../toys/toys';

const schema = contractSchema(toyDomains());
const fieldOf = (type: string, name: string) => {
  const input = schema.getType(type);
  return isInputObjectType(input) ? input.getFields()[name] : undefined;
};

test('the bounds of a field are checked, and are in its description and in the OpenAPI document', () => {
  const toy = { name: ` ${'x'.repeat(255)} ` };
  expect(checkInput(NewToy, toy)).toEqual({ name: 'x'.repeat(255) });
  for (const [name, message] of [
    ['x'.repeat(256), 'input.name: must have at most 255 characters'],
    [' ', 'input.name: must not be empty'],
  ] as const)
    expect(() => checkInput(NewToy, { name })).toThrow(message);
  expect(fieldOf('NewToy', 'name')?.description).toBe('Its name, 1 to 255 characters after trimming.');
  const { NewToy: documented } = contractDocument(toyDomains()).components?.schemas ?? {};
  expect(documented).toMatchObject({ properties: { name: { minLength: 1, maxLength: 255 } } });
});

test('a field with several decorators has the rules of all decorators', () => {
  const name = fieldOf('ToyUpdate', 'name');
  expect(name && ruleOf(name)).toEqual({ nullable: false, trimmed: true, minLength: 1, maxLength: 255 });
  const update = { name: null } as unknown as ToyUpdate;
  expect(() => checkInput(ToyUpdate, update)).toThrow('input.name: must not be null; omit it instead');
});

test('the start fails if a description contains {bounds}, but its field has no bounds', () => {
  expect(() => withBounds('Its size, {bounds}.', {})).toThrow('its field has no bounds: Its size, {bounds}.');
});

test.each([undefined, 1])('of many faulty items of a list, no more are checked than are reported (%j)', (most) => {
  const faultAt = jest.fn(() => ({ message: 'must not be 0' }));
  const type = new GraphQLList(new GraphQLScalarType({ name: 'NotZero', extensions: { faultAt } }));
  const values = Array(10_000).fill(0);
  expect(positionErrors(type, values, values, 'ids', undefined, most)).toHaveLength(most ?? 100);
  expect(faultAt).toHaveBeenCalledTimes(most ?? 100);
});
