import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { OpenAPIV3 } from 'openapi-types';
import { parse } from 'yaml';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../../src/errors/error-codes';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from './client';
import { Description, jsonSchema } from './description';

let gateway: Gateway;
let document: OpenAPIV3.Document;
let description: Description;
beforeAll(async () => {
  gateway = await startGateway();
  await fillShop(gateway.database);
  document = (await send(gateway, 'GET /openapi.json')).json as OpenAPIV3.Document;
  description = Description.of(document);
});
afterAll(() => gateway.close());

/** Faults that Redocly's recommended rules find, warnings included: structure, references, and what tools rely on. */
async function lint(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const faults = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  return faults.map(({ ruleId }) => ruleId);
}

test('the document is valid OpenAPI 3.0.3, in version 1.0.0, without a fault for a linter', async () => {
  const { text } = await send(gateway, 'GET /openapi.json');
  expect(document).toMatchObject({ openapi: '3.0.3', info: { version: '1.0.0' } });
  expect(await lint(text)).toEqual([]);
  expect(await lint(text.replace('"operationId": "listPets"', '"operationId": "createPet"'))).toEqual([
    'operation-operationId-unique',
  ]);
});

test('its largest int64 is exact, beyond the numbers of JavaScript', async () => {
  for (const path of ['/openapi.json', '/openapi.yaml']) {
    const { text } = await send(gateway, `GET ${path}`);
    expect(text).toMatch(/maximum"?: 9223372036854775807\b/);
    expect(text).not.toContain('9223372036854776');
  }
});

test('the YAML is equivalent', async () => {
  const { text, headers } = await send(gateway, 'GET /openapi.yaml');
  expect(headers['content-type']).toBe('application/yaml; charset=utf-8');
  expect(parse(text)).toEqual(document);
});

/** The codes that a response may have. */
function codesOf(response: OpenAPIV3.ResponseObject): ErrorCode[] | undefined {
  const [, narrowed] = (jsonSchema(response).allOf ?? []) as OpenAPIV3.SchemaObject[];
  return (narrowed?.properties?.code as OpenAPIV3.SchemaObject | undefined)?.enum;
}

const OPERATIONS: [on: string, id: string, tag: string, statuses: string][] = [
  ['GET /pets', 'listPets', 'Pets', '200 304 400 401 403 406 429 500 503'],
  ['POST /pets', 'createPet', 'Pets', '201 400 401 403 406 409 413 415 422 429 500 503'],
  ['GET /pets/{petId}', 'getPet', 'Pets', '200 304 400 401 403 404 406 429 500 503'],
  ['PUT /pets/{petId}', 'replacePet', 'Pets', '200 400 401 403 404 406 412 413 415 422 429 500 503'],
  ['PATCH /pets/{petId}', 'updatePet', 'Pets', '200 400 401 403 404 406 409 412 413 415 422 429 500 503'],
  ['DELETE /pets/{petId}', 'deletePet', 'Pets', '204 400 401 403 404 406 409 412 413 415 429 500 503'],
  ['GET /categories', 'listCategories', 'Categories', '200 304 400 401 403 406 429 500 503'],
  ['POST /categories', 'createCategory', 'Categories', '201 400 401 403 406 409 413 415 422 429 500 503'],
  ['GET /categories/{categoryId}', 'getCategory', 'Categories', '200 304 400 401 403 404 406 429 500 503'],
  ['PUT /categories/{categoryId}', 'replaceCategory', 'Categories', '200 400 401 403 404 406 412 413 415 429 500 503'],
  [
    'PATCH /categories/{categoryId}',
    'updateCategory',
    'Categories',
    '200 400 401 403 404 406 409 412 413 415 422 429 500 503',
  ],
  [
    'DELETE /categories/{categoryId}',
    'deleteCategory',
    'Categories',
    '204 400 401 403 404 406 409 412 413 415 429 500 503',
  ],
  ['GET /store/orders', 'listOrders', 'Store', '200 304 400 401 403 406 429 500 503'],
  ['POST /store/orders', 'placeOrder', 'Store', '201 400 401 403 406 409 413 415 422 429 500 503'],
  ['GET /store/orders/{orderId}', 'getOrder', 'Store', '200 304 400 401 403 404 406 429 500 503'],
  ['PATCH /store/orders/{orderId}', 'updateOrder', 'Store', '200 400 401 403 404 406 409 412 413 415 422 429 500 503'],
  ['DELETE /store/orders/{orderId}', 'cancelOrder', 'Store', '204 400 401 403 404 406 412 413 415 429 500 503'],
  ['GET /store/inventory', 'listInventory', 'Store', '200 304 400 401 403 406 429 500 503'],
  ['GET /rate_limit', 'getRateLimit', 'Limits', '200 304 400 401 406 429 500 503'],
  ['GET /usage', 'getUsage', 'Limits', '200 304 400 401 406 429 500 503'],
  ['GET /store/inventory/{petId}', 'getInventory', 'Store', '200 304 400 401 403 404 406 429 500 503'],
  ['PUT /store/inventory/{petId}', 'setInventory', 'Store', '200 400 401 403 404 406 412 413 415 429 500 503'],
  ['DELETE /store/inventory/{petId}', 'removeInventory', 'Store', '204 400 401 403 404 406 412 413 415 429 500 503'],
];

test('it has every operation of the specification, with its statuses', () => {
  const found = [...description.operations].map(([on, { operationId, tags, responses }]) => [
    on,
    operationId,
    tags?.join(),
    Object.keys(responses)
      .filter((status) => status !== 'default')
      .join(' '),
  ]);
  expect(found.sort()).toEqual([...OPERATIONS].sort());
});

test('it has exactly the methods that are routed', async () => {
  for (const path of Object.keys(document.paths)) {
    const { headers } = await send(gateway, `OPTIONS ${path.replace(/\{\w+\}/, '1')}`);
    const routed = headers.allow?.split(', ').filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
    expect([path, Object.keys(document.paths[path] ?? {}).map((method) => method.toUpperCase())]).toEqual([
      path,
      routed,
    ]);
  }
});

test('it has what client generators need: names, texts, examples, scopes', () => {
  const ids = new Set<string>();
  for (const [on, operation] of description.operations) {
    const { operationId = '', summary, description: text = '', parameters, requestBody, responses } = operation;
    ids.add(operationId);
    expect([on, summary, text]).toEqual([on, expect.stringMatching(/\w/), expect.stringMatching(/\w.*\./)]);
    const scope = on.startsWith('GET') ? 'READ' : 'WRITE';
    if (on !== 'GET /rate_limit' && on !== 'GET /usage') expect(text).toContain(`Requires the scope \`${scope}\`.`);
    for (const each of parameters as OpenAPIV3.ParameterObject[])
      expect([on, each.name, each.description]).toEqual([on, each.name, expect.stringMatching(/\w.*\./)]);
    const bodies = [requestBody, ...Object.values(responses)] as (OpenAPIV3.ResponseObject | undefined)[];
    for (const [type, media] of bodies.flatMap((body) => Object.entries(body?.content ?? {}))) {
      const { example } = media.schema as OpenAPIV3.SchemaObject;
      const fields = jsonSchema({ description: '', content: { 'application/json': media } }).properties;
      expect([on, type, example !== undefined || media.examples !== undefined || fields?.code]).not.toContain(
        undefined,
      );
    }
  }
  expect(ids.size).toBe(description.operations.size);
  for (const tag of document.tags ?? []) expect(tag.description).toMatch(/\w.*\./);
});

test('any other error is an Error too, of HTTP itself', () => {
  for (const on of description.operations.keys()) {
    const response = description.response(on, 'default');
    expect(jsonSchema(response).allOf?.[0]).toEqual(description.schema('Error'));
    expect(codesOf(response)).toEqual(['REQUEST_TIMEOUT', 'URI_TOO_LONG', 'HEADERS_TOO_LARGE']);
  }
});

describe('the codes of an answer', () => {
  const ALL = ['BAD_REQUEST', 'BAD_USER_INPUT'];

  test.each<[on: string, status: number, codes: string[]]>([
    ['GET /pets', 400, [...ALL, 'OPERATION_TOO_COMPLEX']],
    ['GET /pets/{petId}', 400, ALL],
    ['GET /pets/{petId}', 404, ['NOT_FOUND']],
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
  ])('%s %i: %j', (on, status, codes) => {
    expect(new Set(codesOf(description.response(on, status)))).toEqual(new Set(codes));
  });

  test('are an enum of all codes in Error, have examples, and belong to the status', () => {
    const { code } = description.schema('Error').properties as { code: OpenAPIV3.SchemaObject };
    expect(code.enum).toEqual(ERROR_CODES);
    for (const [on, { responses }] of description.operations) {
      for (const [status, value] of Object.entries(responses)) {
        if (Number(status) < 400 || status === 'default') continue;
        const response = value as OpenAPIV3.ResponseObject;
        const codes = codesOf(response) ?? [];
        expect([on, codes.map((each) => String(ERRORS[each].status))]).toEqual([on, codes.map(() => status)]);
        expect(codes.length).toBeGreaterThan(0);
        expect(Object.keys(response.content?.['application/json']?.examples ?? {})).toEqual(codes);
        for (const each of codes) expect(response.description).toContain(`\`${each}\``);
      }
    }
  });
});

describe('parameters', () => {
  const names = (on: string, place: string) =>
    description
      .parameters(on)
      .filter((each) => each.in === place)
      .map(({ name }) => name);

  test.each<[string, string[]]>([
    ['GET /pets', ['limit', 'cursor', 'sort', 'id', 'status', 'categoryId', 'name']],
    ['GET /categories', ['limit', 'cursor', 'sort', 'id', 'name']],
    ['GET /store/orders', ['limit', 'cursor', 'sort', 'id', 'petId', 'complete']],
    ['GET /store/inventory', ['limit', 'cursor', 'sort', 'petId', 'status', 'maxQuantity']],
  ])('%s takes %j', async (on, expected) => {
    expect(names(on, 'query')).toEqual(expected);
    for (const name of expected) {
      const { json } = await send(gateway, `${on}?${name}=%00`);
      const [detail] = (json as { details: { path: string; message: string }[] }).details;
      expect([detail?.path, detail?.message.startsWith('is not a parameter')]).toEqual([name, false]);
    }
  });

  test('bounds, defaults and repetition are documented', () => {
    const parameters = description.parameters('GET /pets');
    const schemaOf = (name: string) => parameters.find((each) => each.name === name)?.schema;
    const id = parameters.find(({ name }) => name === 'id');
    expect(id?.description).toBe('Pets with these ids. Repeatable. Without a value: 400.');
    expect(schemaOf('limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 20 });
    expect(schemaOf('sort')).toEqual({ type: 'string', enum: ['id', '-id', 'name', '-name'], default: 'id' });
    expect(schemaOf('id')).toMatchObject({
      type: 'array',
      items: { type: 'integer', format: 'int64', minimum: 1 },
    });
    expect(schemaOf('status')).toMatchObject({
      type: 'array',
      items: { enum: ['available', 'pending', 'sold'] },
    });
  });

  test.each<[string, string[]]>([
    ['GET /pets', ['If-None-Match', 'X-Request-Id']],
    ['POST /pets', ['Idempotency-Key', 'X-Request-Id']],
    ['PUT /pets/{petId}', ['If-Match', 'X-Request-Id']],
    ['PATCH /pets/{petId}', ['If-Match', 'Idempotency-Key', 'X-Request-Id']],
    ['DELETE /store/inventory/{petId}', ['If-Match', 'X-Request-Id']],
  ])('of %s in headers are %j', (on, expected) => {
    expect(names(on, 'header')).toEqual(expected);
  });

  test('in paths are int64', () => {
    for (const [on, { parameters }] of description.operations) {
      const inPath = (parameters as OpenAPIV3.ParameterObject[]).filter((each) => each.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(on.match(/\{\w+\}/g) ?? []);
      for (const each of inPath)
        expect(each).toMatchObject({
          required: true,
          schema: { type: 'integer', format: 'int64', minimum: 1 },
        });
    }
  });
});

describe('headers', () => {
  test('every response has the limits and the request id, every error the Error object', () => {
    for (const [on, { responses }] of description.operations) {
      for (const [status, value] of Object.entries(responses)) {
        const response = value as OpenAPIV3.ResponseObject;
        expect([on, status, Object.keys(response.headers ?? {})]).toEqual([
          on,
          status,
          expect.arrayContaining([
            'X-RateLimit-Limit',
            'X-RateLimit-Remaining',
            'X-RateLimit-Reset',
            'RateLimit',
            'RateLimit-Policy',
            'X-Request-Id',
          ]),
        ]);
        if (Number(status) >= 400) expect(Object.keys(response.headers ?? {})).toContain('Link');
        if (Number(status) >= 400) expect(jsonSchema(response).allOf?.[0]).toEqual(description.schema('Error'));
      }
    }
  });

  test.each<[string, number, string[]]>([
    ['GET /pets', 200, ['ETag', 'Link']],
    ['GET /pets', 304, ['ETag', 'Link']],
    ['GET /pets', 429, ['Retry-After']],
    ['GET /pets', 503, ['Retry-After']],
    ['GET /pets', 401, ['WWW-Authenticate']],
    ['POST /pets', 201, ['ETag', 'Location', 'Idempotent-Replayed', 'X-Stability']],
    ['PUT /pets/{petId}', 200, ['ETag']],
    ['PATCH /pets/{petId}', 200, ['ETag', 'Idempotent-Replayed', 'X-Stability']],
    ['POST /store/orders', 409, ['Idempotent-Replayed']],
    ['POST /store/orders', 422, ['Idempotent-Replayed']],
    ['GET /pets/{petId}', 200, ['ETag', 'Link', 'Deprecation', 'Sunset']],
    ['GET /pets/{petId}', 404, ['Link', 'Deprecation', 'Sunset']],
    ['GET /pets/{petId}', 429, ['Retry-After', 'Link', 'Deprecation', 'Sunset']],
    ['GET /store/inventory', 200, ['ETag', 'Link', 'X-Stability']],
    ['DELETE /store/inventory/{petId}', 204, ['X-Stability']],
    ['DELETE /store/inventory/{petId}', 404, ['X-Stability']],
    ['POST /pets', 422, ['Idempotent-Replayed', 'X-Stability']],
  ])('%s %i has %j', (on, status, expected) => {
    expect(Object.keys(description.response(on, status).headers ?? {})).toEqual(expect.arrayContaining(expected));
  });
});

describe('markers', () => {
  test('only GET /pets/{petId} is deprecated, with its sunset', () => {
    const deprecated = [...description.operations].filter(([, each]) => each.deprecated || each['x-sunset']);
    expect(deprecated.map(([on, each]) => [on, each.deprecated, each['x-sunset']])).toEqual([
      ['GET /pets/{petId}', true, '2027-11-01'],
    ]);
    expect(deprecated[0]?.[1].description).toMatch(/^Deprecated since 2026-11-01: .* at least until 2027-11-01/);
  });

  test('what may still change is marked', () => {
    const marked = [...description.operations].flatMap(([on, each]) => [
      ...(each['x-stability'] ? [[on, each['x-stability']]] : []),
      ...description
        .parameters(on)
        .filter((parameter) => parameter['x-stability'])
        .map((parameter) => [`${on} ${parameter.name}`, parameter['x-stability']]),
    ]);
    expect(marked).toEqual([
      ['POST /pets Idempotency-Key', 'experimental'],
      ['PATCH /pets/{petId} Idempotency-Key', 'experimental'],
      ['POST /categories Idempotency-Key', 'experimental'],
      ['PATCH /categories/{categoryId} Idempotency-Key', 'experimental'],
      ['POST /store/orders Idempotency-Key', 'experimental'],
      ['PATCH /store/orders/{orderId} Idempotency-Key', 'experimental'],
      ['GET /store/inventory maxQuantity', 'beta'],
      ['DELETE /store/inventory/{petId}', 'beta'],
    ]);
  });

  test('keys are optional, in either header', () => {
    expect(document.security).toEqual([{}, { apiKey: [] }, { bearer: [] }]);
    expect(document.components?.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    });
  });
});
