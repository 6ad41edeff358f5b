import fc from 'fast-check';
import type { OpenAPIV3 } from 'openapi-types';
import { type Description, jsonSchema, type Operation } from '../rest/description';
import { byAnyCaller, type FuzzedRequest } from './callers';
import { anyJson, broken, fitting, mostly, objectText, wholeTexts } from './values';

type Schema = OpenAPIV3.SchemaObject;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const TYPES = [
  ...['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'application/json;', 'text/plain', ';'],
  ...['application/json; charset=utf-16', 'application/merge-patch+json', 'application/x-www-form-urlencoded', ''],
];
const SCRAPS = ['"', '{', '}', ',', ':', '\\', '\0', '//', '\ufeff', 'NaN', '\n', "'", '1e400', '\\ud800'];
const PATHS = [
  '/pets/',
  '//pets',
  '/Pets',
  '/pets/1/2',
  '/store',
  '/pets%2F1',
  '/../pets',
  '/rate_limit/x',
  '/*',
  '/%',
];
const IDS = ['', '%', '%ff', '%00', '..', '.', '%2e%2e', '1%2F2', '1;a=b', '%ED%A0%80'];
const QUERIES = [
  ...['', '?&&&', '?=', '?=&=', '?%', '?%zz', '?%ff', '?a[]=1', '?a[b]=1', '?__proto__=1', '??', '?limit', '?limit=+1'],
];

/** Requests to a REST interface, generated from its OpenAPI document: valid, almost valid, and nonsense. */
export function restRequests(description: Description): fc.Arbitrary<FuzzedRequest> {
  return byAnyCaller(fc.oneof(...[...description.operations].map(([on, operation]) => requestsOf(on, operation))));
}

function requestsOf(on: string, operation: Operation) {
  const [method = '', path = ''] = on.split(' ');
  const body = operation.requestBody as OpenAPIV3.RequestBodyObject | undefined;
  const parameters = (operation.parameters ?? []) as OpenAPIV3.ParameterObject[];
  const url = fc.tuple(pathOf(path), queryOf(parameters.filter((each) => each.in === 'query')));
  const types = body ? Object.keys(body.content) : ['application/json'];
  return fc
    .record({
      method: mostly(fc.constant(method), fc.constantFrom(...METHODS), 12),
      url: url.map((parts) => parts.join('')),
      type: mostly(fc.constantFrom(...types), fc.constantFrom(...TYPES), 12),
      payload: body
        ? mostly(bodyOf(jsonSchema(body)), fc.constant(undefined), 20)
        : mostly(fc.constant(undefined), anyJson, 12),
    })
    .map(({ type, ...request }) => (request.payload === undefined ? request : { ...request, type }));
}

function pathOf(template: string): fc.Arbitrary<string> {
  const id = fc.oneof(
    { arbitrary: fc.constantFrom('1', '2', '3', '4', '999'), weight: 8 },
    { arbitrary: fc.oneof(fitting.integer, wholeTexts).map(encodeURIComponent), weight: 2 },
    { arbitrary: fc.constantFrom(...IDS), weight: 1 },
  );
  return mostly(
    id.map((given) => template.replace(/\{\w+\}/, () => given)),
    fc.constantFrom(...PATHS),
    30,
  );
}

function queryOf(parameters: OpenAPIV3.ParameterObject[]): fc.Arbitrary<string> {
  const unknown = wholeTexts.map((text) => text.slice(0, 200));
  const pairs = parameters.map(({ name, schema }) =>
    fc
      .tuple(mostly(fc.constant(name), unknown, 15), mostly(unquoted(valuesOf(schema as Schema)), wholeTexts, 3))
      .map((pair) => pair.map(encodeURIComponent).join('=')),
  );
  const some = pairs.length ? fc.array(fc.oneof(...pairs), { maxLength: 5 }) : fc.constant([]);
  return mostly(
    some.map((given) => (given.length ? `?${given.join('&')}` : '')),
    fc.constantFrom(...QUERIES),
    12,
  );
}

/** Values for a query string: JSON strings without their quotes, and other JSON texts unchanged. */
function unquoted(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return values.map((text) => (text.startsWith('"') ? String(JSON.parse(text)).toWellFormed() : text));
}

function bodyOf(schema: Schema): fc.Arbitrary<string | Buffer> {
  const sound = valuesOf(schema);
  const large = [' '.repeat(102_401), `{"name":"${'x'.repeat(102_400)}"}`, '', '\ufeff{}'];
  return fc.oneof<fc.WeightedArbitrary<string | Buffer>[]>(
    { arbitrary: sound, weight: 20 },
    { arbitrary: anyJson, weight: 3 },
    { arbitrary: broken(sound, SCRAPS), weight: 3 },
    { arbitrary: fc.constantFrom(...large), weight: 1 },
    { arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
    { arbitrary: sound.map((text) => Buffer.from(text, 'latin1')), weight: 1 },
  );
}

/** JSON texts for a schema. Most have the right type, often with boundary values. Some have a wrong type. */
function valuesOf(schema: Schema): fc.Arbitrary<string> {
  return mostly(soundValuesOf(schema), anyJson, 12);
}

function soundValuesOf(schema: Schema): fc.Arbitrary<string> {
  const { type, format, enum: values, properties, required = [] } = schema;
  if (properties) {
    const fields = Object.entries(properties) as [string, Schema][];
    return objectText(
      fields.map(([name, value]) => ({ name, value: valuesOf(value), required: required.includes(name) })),
    );
  }
  if (values) return fc.constantFrom(...values.map((value) => JSON.stringify(value)));
  if (schema.type === 'array') return valuesOf(schema.items as Schema);
  if (type === 'integer') return format === 'int64' ? fitting.id : fitting.integer;
  if (type === 'boolean') return fitting.boolean;
  return format === 'date-time' ? fitting.date : fitting.text;
}
