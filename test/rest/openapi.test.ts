/** Tests of the OpenAPI document. helper/openapi.ts also checks in every test that the responses match the document. */
import { createConfig, lintFromString } from '@redocly/openapi-core';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { OpenAPIV3 } from 'openapi-types';
import { parse } from 'yaml';
import { gatewayDomains } from '../../src/app/domains';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';
import { Description, jsonSchema } from './description';

const CATALOGUE = gatewayDomains().errors;

type Schema = OpenAPIV3.SchemaObject;
type Response = OpenAPIV3.ResponseObject;

let gateway: Gateway;
let document: OpenAPIV3.Document;
let description: Description;
beforeAll(async () => {
  gateway = await startGateway();
  document = (await send(gateway, 'GET /openapi.json')).json as OpenAPIV3.Document;
  description = Description.of(document);
});
afterAll(() => gateway.close());

/**
 * @returns Redocly's recommended rules that the document breaks, including rules that only warn. The document may name no
 * servers: their default is the server of the document.
 */
async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-empty-servers': 'off' } });
  const faults = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  return faults.map(({ ruleId }) => ruleId);
}

/** Every response of every operation. */
const responses = () =>
  [...description.operations].flatMap(([on, operation]) =>
    Object.entries(operation.responses).map(([status, response]) => ({ on, status, response: response as Response })),
  );

/** The error codes that the schema of a response allows. */
function codesOf(response: Response): string[] | undefined {
  const [, narrowed] = (jsonSchema(response).allOf ?? []) as Schema[];
  return (narrowed?.properties?.code as Schema | undefined)?.enum;
}

describe('the document', () => {
  test('is valid OpenAPI 3.0.3, has the version 1.0.0, and passes the linter', async () => {
    const { text } = await send(gateway, 'GET /openapi.json');
    expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.0.0' } });
    expect(await lint(text)).toEqual([]);
    expect(await lint(text.replace('"operationId": "listPets"', '"operationId": "createPet"'))).toEqual([
      'operation-operationId-unique',
    ]);
  });

  test('contains the largest int64 without rounding, in JSON and YAML', async () => {
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { text } = await send(gateway, `GET ${path}`);
      expect(text).toMatch(/maximum"?: 9223372036854775807\b/);
      expect(text).not.toContain('9223372036854776');
    }
  });

  test('has the same content in YAML as in JSON', async () => {
    const { text, headers } = await send(gateway, 'GET /openapi.yaml');
    expect(headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(parse(text)).toEqual(document);
  });

  // Generators append paths to the URL of the server. With `/`, clients would call `//pets`, another host.
  test('names no server, so that generated clients call the server of their page', () => {
    expect(document).not.toHaveProperty('servers');
  });

  test('declares API keys in two headers as optional', () => {
    expect(document.security).toEqual([{}, { apiKey: [] }, { bearer: [] }]);
    expect(document.components?.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
  });
});

/** The statuses that every operation can return. OPERATIONS lists the additional statuses of each operation. */
const ALWAYS = ['400', '401', '406', '429', '500', '503'];
const OPERATIONS: [on: string, id: string, tag: string, statuses: string][] = [
  ['GET /pets', 'listPets', 'Pets', '200 304 403'],
  ['POST /pets', 'createPet', 'Pets', '201 403 409 413 415 422'],
  ['GET /pets/{petId}', 'getPet', 'Pets', '200 304 403 404'],
  ['PUT /pets/{petId}', 'replacePet', 'Pets', '200 403 404 412 413 415 422'],
  ['PATCH /pets/{petId}', 'updatePet', 'Pets', '200 403 404 409 412 413 415 422'],
  ['DELETE /pets/{petId}', 'deletePet', 'Pets', '204 403 404 409 412'],
  ['GET /categories', 'listCategories', 'Categories', '200 304 403'],
  ['POST /categories', 'createCategory', 'Categories', '201 403 409 413 415 422'],
  ['GET /categories/{categoryId}', 'getCategory', 'Categories', '200 304 403 404'],
  ['PUT /categories/{categoryId}', 'replaceCategory', 'Categories', '200 403 404 412 413 415'],
  ['PATCH /categories/{categoryId}', 'updateCategory', 'Categories', '200 403 404 409 412 413 415 422'],
  ['DELETE /categories/{categoryId}', 'deleteCategory', 'Categories', '204 403 404 409 412'],
  ['GET /store/orders', 'listOrders', 'Store', '200 304 403'],
  ['POST /store/inventory/{petId}/adjustments', 'adjustInventory', 'Store', '200 403 404 409 413 415 422'],
  ['POST /store/orders', 'placeOrder', 'Store', '201 403 409 413 415 422'],
  ['GET /store/orders/{orderId}', 'getOrder', 'Store', '200 304 403 404'],
  ['PATCH /store/orders/{orderId}', 'updateOrder', 'Store', '200 403 404 409 412 413 415 422'],
  ['DELETE /store/orders/{orderId}', 'cancelOrder', 'Store', '204 403 404 412'],
  ['GET /store/inventory', 'listInventory', 'Store', '200 304 403'],
  ['GET /events', 'listEvents', 'Events', '200 304 403 410'],
  ['GET /rate_limit', 'getRateLimit', 'Limits', '200 304'],
  ['GET /usage', 'getUsage', 'Limits', '200 304'],
  ['GET /store/inventory/{petId}', 'getInventory', 'Store', '200 304 403 404'],
  ['PUT /store/inventory/{petId}', 'setInventory', 'Store', '200 403 404 412 413 415'],
  ['DELETE /store/inventory/{petId}', 'removeInventory', 'Store', '204 403 404 412'],
];

describe('operations', () => {
  test('and their statuses match the specification', () => {
    const found = [...description.operations].map(([on, { operationId, tags, responses }]) => {
      const statuses = Object.keys(responses);
      expect(statuses).toEqual(expect.arrayContaining([...ALWAYS, 'default']));
      return [
        on,
        operationId,
        tags?.join(),
        statuses.filter((each) => ![...ALWAYS, 'default'].includes(each)).join(' '),
      ];
    });
    expect(found.sort()).toEqual([...OPERATIONS].sort());
  });

  test('match the methods that each path accepts', async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const { headers } = await send(gateway, `OPTIONS ${path.replace(/\{\w+\}/, '1')}`);
      const routed = headers.allow?.split(', ').filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
      expect([path, Object.keys(item ?? {}).map((method) => method.toUpperCase())]).toEqual([path, routed]);
    }
  });

  test('have unique ids, descriptions, examples and scopes, which client generators need', () => {
    const sentence = expect.stringMatching(/\w.*\./);
    for (const [on, operation] of description.operations) {
      const { summary, description: text, parameters, requestBody, responses } = operation;
      expect([on, summary, text]).toEqual([on, expect.stringMatching(/\w/), sentence]);
      const scope = on.startsWith('GET') ? 'READ' : on.includes('/store/orders') ? 'ORDER' : 'WRITE';
      if (on !== 'GET /rate_limit' && on !== 'GET /usage') expect(text).toContain(`Requires the scope \`${scope}\`.`);
      for (const each of parameters as OpenAPIV3.ParameterObject[])
        expect([on, each.name, each.description]).toEqual([on, each.name, sentence]);
      const bodies = [requestBody, ...Object.values(responses)] as (Response | undefined)[];
      for (const media of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
        const { example, properties } = media.schema as Schema;
        expect([on, example ?? media.examples ?? properties?.code]).toEqual([on, expect.anything()]);
      }
    }
    const ids = [...description.operations.values()].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const tag of document.tags ?? []) expect(tag.description).toEqual(sentence);
  });

  test('have example bodies that are valid', () => {
    const ajv = addFormats(new Ajv({ strict: false }));
    for (const [on, { requestBody }] of description.operations) {
      if (!requestBody) continue;
      const schema = jsonSchema(requestBody as OpenAPIV3.RequestBodyObject);
      expect([on, ajv.validate(schema, schema.example), ajv.errorsText()]).toEqual([on, true, 'No errors']);
    }
  });

  test('say whether a POST creates a resource or changes one', () => {
    const textsOf = (on: string, status: number) => {
      const { requestBody } = description.operation(on);
      return [(requestBody as OpenAPIV3.RequestBodyObject).description, description.response(on, status).description];
    };
    expect(textsOf('POST /pets', 201)).toEqual(['The whole resource, without its id.', 'The new resource.']);
    const [body, response] = textsOf('POST /store/inventory/{petId}/adjustments', 200);
    expect([body, response]).toEqual(['The change.', 'The resource after the change.']);
  });

  test('include exactly one deprecated operation, with a sunset date: GET /pets/{petId}', () => {
    const deprecated = [...description.operations].filter(([, each]) => each.deprecated || each['x-sunset']);
    expect(deprecated.map(([on, each]) => [on, each.deprecated, each['x-sunset']])).toEqual([
      ['GET /pets/{petId}', true, '2027-11-01'],
    ]);
    expect(deprecated[0]?.[1].description).toMatch(/^Deprecated since 2026-11-01: .* at least until 2027-11-01/);
  });

  test('and parameters have a stability level if they may still change', () => {
    const marked = [...description.operations].flatMap(([on, operation]) =>
      [operation as Record<string, unknown>, ...description.parameters(on)].map(
        ({ name = '', 'x-stability': level }) => level && `${on} ${name}: ${level}`,
      ),
    );
    expect(marked.filter(Boolean)).toEqual([
      'GET /store/inventory maxQuantity: beta',
      'DELETE /store/inventory/{petId} : beta',
      'GET /events : experimental',
    ]);
  });
});

describe('errors', () => {
  const INPUT = ['BAD_REQUEST', 'BAD_USER_INPUT'];

  test.each<[on: string, status: number | 'default', codes: string[]]>([
    ['GET /pets', 400, [...INPUT, 'OPERATION_TOO_COMPLEX']],
    ['GET /pets/{petId}', 400, INPUT],
    ['GET /pets/{petId}', 404, ['NOT_FOUND']],
    ['GET /pets/{petId}', 'default', ['REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE']],
    ['POST /pets', 409, ['IDEMPOTENCY_IN_PROGRESS']],
    ['POST /pets', 422, ['IDEMPOTENCY_MISMATCH', 'UNKNOWN_REFERENCE']],
    ['PUT /pets/{petId}', 412, ['PRECONDITION_FAILED']],
    ['PUT /pets/{petId}', 422, ['UNKNOWN_REFERENCE']],
    ['PATCH /pets/{petId}', 422, ['IDEMPOTENCY_MISMATCH', 'UNKNOWN_REFERENCE']],
    ['DELETE /pets/{petId}', 409, ['PET_HAS_ORDERS']],
    ['DELETE /categories/{categoryId}', 409, ['CATEGORY_NOT_EMPTY']],
    ['POST /store/orders', 409, ['IDEMPOTENCY_IN_PROGRESS', 'INSUFFICIENT_STOCK']],
    ['PATCH /store/orders/{orderId}', 409, ['IDEMPOTENCY_IN_PROGRESS', 'INSUFFICIENT_STOCK', 'ORDER_COMPLETE']],
    ['GET /rate_limit', 429, ['KEY_BANNED', 'RATE_LIMITED']],
  ])('of %s with status %s have the codes %j', (on, status, codes) => {
    expect([...(codesOf(description.response(on, status)) ?? [])].sort()).toEqual([...codes].sort());
  });

  test('are Error objects with an example for each code of their status', () => {
    const { required, properties = {} } = description.schema('Error');
    expect(required).toEqual(['code', 'message', 'status']);
    expect(Object.keys(properties)).toEqual(['code', 'message', 'status', 'details', 'requestId']);
    expect((properties.code as Schema).enum).toEqual([...CATALOGUE.keys()]);
    for (const { on, status, response } of responses().filter((each) => !/^[23]/.test(each.status))) {
      expect([on, status, jsonSchema(response).allOf?.[0]]).toEqual([on, status, description.schema('Error')]);
      const codes = codesOf(response) ?? [];
      expect(codes.length).toBeGreaterThan(0);
      if (status === 'default') continue;
      expect([on, codes.map((each) => String(CATALOGUE.get(each)?.status))]).toEqual([on, codes.map(() => status)]);
      expect(Object.keys(response.content?.['application/json']?.examples ?? {})).toEqual(codes);
      for (const each of codes) expect(response.description).toContain(`\`${each}\``);
    }
  });
});

describe('parameters', () => {
  const names = (on: string, place: string) =>
    description
      .parameters(on)
      .filter((each) => each.in === place)
      .map(({ name }) => name);

  test.each([
    ['GET /pets', ['limit', 'cursor', 'sort', 'id', 'status', 'categoryId', 'name']],
    ['GET /categories', ['limit', 'cursor', 'sort', 'id', 'name']],
    ['GET /store/orders', ['limit', 'cursor', 'sort', 'id', 'petId', 'complete']],
    ['GET /store/inventory', ['limit', 'cursor', 'sort', 'petId', 'status', 'maxQuantity', 'minQuantity']],
    ['GET /usage', ['days']],
  ])('in the query of %s are %j, and are accepted', async (on, expected) => {
    expect(names(on, 'query')).toEqual(expected);
    const query = expected.map((name) => `${name}=%00`).join('&');
    const { json } = await send(gateway, `${on}?${query}`);
    expect((json as { message: string }).message).not.toContain('is not a parameter');
  });

  test.each([
    ['GET /pets', ['If-None-Match', 'X-Request-Id']],
    ['POST /pets', ['Idempotency-Key', 'X-Request-Id']],
    ['PUT /pets/{petId}', ['If-Match', 'If-None-Match', 'X-Request-Id']],
    ['PATCH /pets/{petId}', ['If-Match', 'If-None-Match', 'Idempotency-Key', 'X-Request-Id']],
    ['DELETE /store/inventory/{petId}', ['If-Match', 'If-None-Match', 'X-Request-Id']],
  ])('in the headers of %s are %j', (on, expected) => {
    expect(names(on, 'header')).toEqual(expected);
  });

  test('declare their bounds and defaults, and whether they are repeatable', () => {
    const parameters = new Map(description.parameters('GET /pets').map((each) => [each.name, each]));
    const int64 = { type: 'integer', format: 'int64', minimum: 1 };
    expect(parameters.get('id')?.description).toBe('Pets with these ids. Repeatable. An empty value is rejected.');
    expect(parameters.get('id')?.schema).toMatchObject({ type: 'array', items: int64 });
    expect(parameters.get('limit')?.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    expect(parameters.get('sort')?.schema).toEqual({
      ...{ type: 'string', enum: ['id', '-id', 'name', '-name'] },
      default: 'id',
    });
    expect(parameters.get('status')?.schema).toMatchObject({ items: { enum: ['available', 'pending', 'sold'] } });
    for (const on of description.operations.keys()) {
      const inPath = description.parameters(on).filter((each) => each.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(on.match(/\{\w+\}/g) ?? []);
      for (const each of inPath) expect(each).toMatchObject({ required: true, schema: int64 });
    }
  });
});

describe('headers', () => {
  const ALWAYS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy'];

  test('every documented response has rate limit headers and a request id; every error has a link to its description', () => {
    for (const { on, status, response } of responses()) {
      const wanted = [...ALWAYS, 'X-Request-Id', ...(Number(status) >= 400 ? ['Link'] : [])];
      const headers = Object.keys(response.headers ?? {});
      expect([on, status, headers]).toEqual([on, status, expect.arrayContaining(wanted)]);
    }
  });

  test.each<[on: string, status: number, headers: string[]]>([
    ['GET /pets', 200, ['ETag', 'Link']],
    ['GET /pets', 304, ['ETag', 'Link']],
    ['GET /pets', 429, ['Retry-After']],
    ['GET /pets', 503, ['Retry-After']],
    ['GET /pets', 401, ['WWW-Authenticate']],
    ['POST /pets', 201, ['ETag', 'Location', 'Idempotent-Replayed']],
    ['POST /pets', 422, ['Idempotent-Replayed']],
    ['PUT /pets/{petId}', 200, ['ETag']],
    ['PATCH /pets/{petId}', 200, ['ETag', 'Idempotent-Replayed']],
    ['POST /store/orders', 409, ['Idempotent-Replayed', 'Retry-After']],
    ['GET /pets/{petId}', 200, ['ETag', 'Link', 'Deprecation', 'Sunset']],
    ['GET /pets/{petId}', 404, ['Link', 'Deprecation', 'Sunset']],
    ['GET /pets/{petId}', 429, ['Retry-After', 'Link', 'Deprecation', 'Sunset']],
    ['GET /store/inventory', 200, ['ETag', 'Link', 'X-Stability']],
    ['DELETE /store/inventory/{petId}', 204, ['X-Stability']],
    ['DELETE /store/inventory/{petId}', 404, ['X-Stability']],
  ])('%s with status %i has %j', (on, status, expected) => {
    expect(Object.keys(description.response(on, status).headers ?? {})).toEqual(expect.arrayContaining(expected));
  });
});

describe('schemas', () => {
  // Fields, their types and the required fields (docs/specification.md).
  test.each<[name: string, fields: Record<string, string>, required: string[]]>([
    ['NewPet', { name: 'string', categoryId: 'int64', status: 'PetStatus' }, ['name', 'categoryId']],
    ['Pet', { id: 'int64', name: 'string', categoryId: 'int64', status: 'PetStatus' }, ['id', 'name', 'categoryId']],
    ['NewCategory', { name: 'string', description: 'string' }, ['name']],
    ['Category', { id: 'int64', name: 'string', description: 'string' }, ['id', 'name']],
    ['Order', { id: 'int64', petId: 'int64', quantity: 'integer', shipDate: 'date-time', complete: 'boolean' }, []],
    ['InventoryItem', { petId: 'int64', quantity: 'integer', status: 'PetStatus' }, ['petId', 'quantity', 'status']],
    ['InventoryUpdate', { quantity: 'integer' }, ['quantity']],
  ])('%s matches the specification', (name, fields, required) => {
    const { properties = {}, required: actual = [] } = description.schema(name);
    const types = Object.entries(properties).map(([field, value]) => {
      const { type, format, enum: values } = value as Schema;
      return [field, values ? 'PetStatus' : format && format !== 'int32' ? format : type];
    });
    expect([Object.fromEntries(types), actual]).toEqual([fields, required]);
  });

  test('have bounds, read-only ids and examples, and allow null only where it means none', () => {
    const schema = (name: string) => description.schema(name);
    for (const name of ['Pet', 'Category', 'Order'])
      expect(schema(name).properties?.id).toMatchObject({ readOnly: true });
    expect(schema('PetStatus')).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(schema('Pet').description).toContain('Always present: `id`, `name`, `status`, `categoryId`.');
    expect(schema('Order').description).toContain('Always present: `id`, `complete`.');
    expect(schema('Category').description).not.toContain('Always present');
    const name = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S', example: expect.any(String) };
    expect(schema('NewPet').properties?.name).toMatchObject(name);
    expect(schema('Pets')).toMatchObject({ type: 'array', maxItems: 100, example: [{ id: 1, status: 'available' }] });
    const schemas = Object.entries(document.components?.schemas ?? {}) as [string, Schema][];
    const nullable = schemas.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, each]) => ('nullable' in each ? [`${name}.${field}`] : [])),
    );
    expect(nullable.sort()).toEqual([
      'CategoryUpdate.description',
      'NewCategory.description',
      'OrderUpdate.petId',
      'OrderUpdate.quantity',
      'OrderUpdate.shipDate',
    ]);
  });

  test('of request bodies have exactly the fields that the operation accepts', async () => {
    for (const [on, { requestBody }] of description.operations) {
      if (!requestBody) continue;
      const body = requestBody as OpenAPIV3.RequestBodyObject;
      const patches = on.startsWith('PATCH') ? ['application/merge-patch+json'] : [];
      expect([on, Object.keys(body.content)]).toEqual([on, ['application/json', ...patches]]);
      const { properties = {}, additionalProperties } = jsonSchema(body);
      expect([on, additionalProperties]).toEqual([on, false]);
      // `[[]]` is not a valid value of any field. Known fields fail with a wrong type, and `colour` fails as unknown.
      const wrong = Object.fromEntries([...Object.keys(properties), 'colour'].map((name) => [name, [[]]]));
      const { json } = await send(gateway, on.replace(/\{\w+\}/, '1'), wrong);
      const { details } = json as { details: { path: string; message: string }[] };
      expect(details.map(({ path }) => path).sort()).toEqual(Object.keys(wrong).sort());
      const unknown = details.filter(({ message }) => message.startsWith('is not'));
      expect([on, unknown.map(({ path }) => path)]).toEqual([on, ['colour']]);
    }
  });
});
