import type { OpenAPIV3 } from 'openapi-types';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';
import { Description, jsonSchema } from './description';

let gateway: Gateway;
let description: Description;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  description = await Description.of((await send(gateway, 'GET /openapi.json')).json as OpenAPIV3.Document);
});
afterAll(() => gateway.close());

describe('payloads', () => {
  // The specification, section 2: fields with their types, and the required ones.
  test.each<[string, Record<string, string>, string[]]>([
    ['NewPet', { name: 'string', categoryId: 'int64', status: 'PetStatus' }, ['name', 'categoryId']],
    ['Pet', { id: 'int64', name: 'string', categoryId: 'int64', status: 'PetStatus' }, ['id', 'name', 'categoryId']],
    ['NewCategory', { name: 'string', description: 'string' }, ['name']],
    ['Category', { id: 'int64', name: 'string', description: 'string' }, ['id', 'name']],
    ['Order', { id: 'int64', petId: 'int64', quantity: 'integer', shipDate: 'date-time', complete: 'boolean' }, []],
    ['InventoryItem', { petId: 'int64', quantity: 'integer', status: 'PetStatus' }, ['petId', 'quantity', 'status']],
    ['InventoryUpdate', { quantity: 'integer' }, ['quantity']],
  ])('%s is as specified', (name, fields, required) => {
    const { properties = {}, required: actual = [] } = description.schema(name);
    const types = Object.entries(properties).map(([field, value]) => {
      const { type, format, enum: values } = value as OpenAPIV3.SchemaObject;
      return [field, values ? 'PetStatus' : format && format !== 'int32' ? format : type];
    });
    expect(Object.fromEntries(types)).toEqual(fields);
    expect(actual).toEqual(required);
  });

  test('ids are read only, and descriptions name what always comes where the specification requires less', () => {
    for (const name of ['Pet', 'Category', 'Order'])
      expect(description.schema(name).properties?.id).toMatchObject({ readOnly: true });
    expect(description.schema('Pet').description).toContain('Always there: `id`, `name`, `status`, `categoryId`.');
    expect(description.schema('Order').description).toContain('Always there: `id`, `complete`.');
    expect(description.schema('Category').description).not.toContain('Always there');
  });

  test('Error has the three fields of the specification, and two more', () => {
    expect(description.schema('Error').required).toEqual(['code', 'message', 'status']);
    expect(Object.keys(description.schema('Error').properties ?? {})).toEqual([
      'code',
      'message',
      'status',
      'details',
      'requestId',
    ]);
  });

  test('PetStatus has its three values', () => {
    expect(description.schema('PetStatus')).toMatchObject({
      type: 'string',
      enum: ['available', 'pending', 'sold'],
    });
  });

  test.each<[string, string, unknown]>([
    ['GET /pets', '/pets', undefined],
    ['GET /pets/{petId}', '/pets/1', undefined],
    ['GET /categories', '/categories', undefined],
    ['GET /categories/{categoryId}', '/categories/1', undefined],
    ['GET /store/orders', '/store/orders', undefined],
    ['GET /store/orders/{orderId}', '/store/orders/1', undefined],
    ['GET /store/inventory', '/store/inventory', undefined],
    ['GET /store/inventory/{petId}', '/store/inventory/1', undefined],
    ['POST /pets', '/pets', { name: 'Mia', categoryId: 1 }],
    ['POST /categories', '/categories', { name: 'Birds', description: 'Loud' }],
    ['POST /store/orders', '/store/orders', { petId: 1, quantity: 1, shipDate: '2026-12-01T00:00:00Z' }],
    ['PUT /store/inventory/{petId}', '/store/inventory/2', { quantity: 1 }],
  ])('%s returns what is documented', async (on, path, body) => {
    const { status, json } = await send(gateway, on.replace(/ .*/, ` ${path}`), body);
    const documented = jsonSchema(description.response(on, status));
    const isList = documented.type === 'array';
    const { properties = {}, required = [] } = (isList ? documented.items : documented) as OpenAPIV3.SchemaObject;
    const values = (isList ? json : [json]) as object[];
    expect(values.length).toBeGreaterThan(0);
    for (const value of values) {
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(value)));
      expect(Object.keys(value)).toEqual(expect.arrayContaining(required));
    }
  });

  test('a body may have exactly the fields that the operation takes', async () => {
    for (const [on, { requestBody }] of description.operations) {
      if (!requestBody) continue;
      const body = requestBody as OpenAPIV3.RequestBodyObject;
      expect(Object.keys(body.content)).toEqual(
        on.startsWith('PATCH') ? ['application/json', 'application/merge-patch+json'] : ['application/json'],
      );
      const { properties = {}, additionalProperties } = jsonSchema(body);
      expect([on, additionalProperties]).toEqual([on, false]);
      // Values of no valid type: each known field fails by its own rule, any other as unknown.
      const wrong = Object.fromEntries([...Object.keys(properties), 'colour'].map((name) => [name, [[]]]));
      const { json } = await send(gateway, on.replace(/\{\w+\}/, '1'), wrong);
      const details = (json as { details: { path: string; message: string }[] }).details;
      expect([on, details.filter(({ message }) => message.startsWith('is not')).map(({ path }) => path)]).toEqual([
        on,
        ['colour'],
      ]);
      expect(details.map(({ path }) => path).sort()).toEqual(Object.keys(wrong).sort());
    }
  });
});
