import { isInputObjectType } from 'graphql';
import { contractDocument, contractSchema } from '../../src/app/contract';
import { ruleOf } from '../../src/errors/inputs';
import { checkInput, withBounds } from '../../src/graphql/bounds';
import { NewPet, PetUpdate } from '../../src/petstore/inputs';

const schema = contractSchema();
const fieldOf = (type: string, name: string) => {
  const input = schema.getType(type);
  return isInputObjectType(input) ? input.getFields()[name] : undefined;
};

test('the bounds of a field are in its check, its description and the OpenAPI document', () => {
  const pet = { name: ` ${'x'.repeat(255)} `, categoryId: 1n };
  expect(checkInput(NewPet, pet)).toEqual({ name: 'x'.repeat(255), categoryId: 1n });
  for (const [name, message] of [
    ['x'.repeat(256), 'input.name: must have at most 255 characters'],
    [' ', 'input.name: must not be empty'],
  ] as const)
    expect(() => checkInput(NewPet, { ...pet, name })).toThrow(message);
  expect(fieldOf('NewPet', 'name')?.description).toBe("The pet's name, 1 to 255 characters after trimming.");
  const { NewPet: documented } = contractDocument().components?.schemas ?? {};
  expect(documented).toMatchObject({ properties: { name: { minLength: 1, maxLength: 255 } } });
});

test('a field with several decorators has the rules of all', () => {
  const name = fieldOf('PetUpdate', 'name');
  expect(name && ruleOf(name)).toEqual({ nullable: false, trimmed: true, minLength: 1, maxLength: 255 });
  const update = { name: null } as unknown as PetUpdate;
  expect(() => checkInput(PetUpdate, update)).toThrow(
    'input.name: must not be null; omit it to keep the current value',
  );
});

test('a description that mentions bounds of a field without any stops the start', () => {
  expect(() => withBounds('Its size, {bounds}.', {})).toThrow('has no bounds for its description: Its size, {bounds}.');
});
