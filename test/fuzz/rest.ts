import fc from 'fast-check';
import type { OpenAPIV3 } from 'openapi-types';
import { type Description, jsonSchema, type Operation } from '../rest/description';
import { bySomebody, type FuzzedRequest } from './callers';
import { anyJson, broken, fitting, mostly, numbers, objectText, texts, wholeTexts } from './values';

type Schema = OpenAPIV3.SchemaObject;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const TYPES = [
  ...['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'application/json;'],
  ...['application/json; charset=utf-16', 'application/merge-patch+json', 'application/json-patch+json', 'text/plain'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '', ';', 'application/json, text/plain'],
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
const QUERIES = [
  '',
  '&&&',
  '=',
  '=&=',
  '%',
  '%zz',
  '%ff',
  'a[]=1',
  'a[b]=1',
  '__proto__=1',
  '?',
  'limit',
  'limit=+1',
  '#',
];

/** Requests to a REST interface, generated from its OpenAPI document: valid, almost valid, and nonsense. */
export function restRequests(description: Description): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(...[...description.operations].map(([on, operation]) => requestsOf(on, operation)));
}

function requestsOf(on: string, operation: Operation): fc.Arbitrary<FuzzedRequest> {
  const space = on.indexOf(' ');
  const body = operation.requestBody as OpenAPIV3.RequestBodyObject | undefined;
  const parameters = (operation.parameters ?? []) as OpenAPIV3.ParameterObject[];
  const target = fc
    .tuple(pathOf(on.slice(space + 1), parameters), queryOf(parameters))
    .map(([path, query]) => path + query);
  const types = body ? Object.keys(body.content) : ['application/json'];
  return bySomebody(
    fc
      .record({
        method: mostly(fc.constant(on.slice(0, space)), fc.constantFrom(...METHODS), 12),
        url: target,
        type: mostly(fc.constantFrom(...types), fc.constantFrom(...TYPES), 12),
        payload: body
          ? mostly(bodyOf(jsonSchema(body)), fc.constant(undefined), 20)
          : mostly(fc.constant(undefined), anyJson, 12),
      })
      .map(({ type, ...request }) => (request.payload === undefined ? request : { ...request, type })),
  );
}

function pathOf(template: string, parameters: OpenAPIV3.ParameterObject[]): fc.Arbitrary<string> {
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const values = inPath.map(() =>
    fc.oneof(
      { arbitrary: fc.constantFrom('1', '2', '3', '4', '999'), weight: 8 },
      { arbitrary: fc.oneof(numbers, wholeTexts).map(encodeURIComponent), weight: 2 },
      {
        arbitrary: fc.constantFrom('', '%', '%ff', '%00', '..', '.', '%2e%2e', '1%2F2', '1;a=b', '%ED%A0%80'),
        weight: 1,
      },
    ),
  );
  const filled = fc
    .tuple(...values)
    .map((given) => inPath.reduce((path, { name }, i) => path.replace(`{${name}}`, () => given[i] ?? ''), template));
  return mostly(filled, fc.constantFrom(...PATHS), 30);
}

function queryOf(parameters: OpenAPIV3.ParameterObject[]): fc.Arbitrary<string> {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const one = ({ name, schema }: OpenAPIV3.ParameterObject) =>
    mostly(
      fc.constant(name),
      texts.map((text) => text.toWellFormed().slice(0, 200)),
      15,
    ).chain((key) =>
      mostly(unquoted(valuesOf(schema as Schema)), wholeTexts, 3).map(
        (value) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`,
      ),
    );
  if (!inQuery.length)
    return mostly(
      fc.constant(''),
      fc.constantFrom(...QUERIES).map((query) => `?${query}`),
      8,
    );
  const some = fc.array(fc.oneof(...inQuery.map(one)), { maxLength: 5 }).map((pairs) => pairs.join('&'));
  return mostly(some, fc.constantFrom(...QUERIES), 15).map((query) => query && `?${query}`);
}

/** JSON texts as in a query string: without quotes. */
function unquoted(values: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return values.map((text) => (text.startsWith('"') ? String(JSON.parse(text)).toWellFormed() : text));
}

function bodyOf(schema: Schema): fc.Arbitrary<string | Buffer> {
  const sound = valuesOf(schema);
  return fc.oneof<fc.Arbitrary<string | Buffer>[]>(
    { arbitrary: sound, weight: 20 } as never,
    { arbitrary: anyJson, weight: 3 } as never,
    { arbitrary: broken(sound, SCRAPS), weight: 3 } as never,
    {
      arbitrary: fc.constantFrom('', '\ufeff{}', ' '.repeat(102_401), `{"name":"${'x'.repeat(102_400)}"}`),
      weight: 1,
    } as never,
    { arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)), weight: 1 } as never,
    { arbitrary: sound.map((text) => Buffer.from(text, 'latin1')), weight: 1 } as never,
    { arbitrary: sound.map((text) => Buffer.from(text, 'utf16le')), weight: 1 } as never,
  );
}

/** JSON texts for a schema: mostly of its type, often at its boundaries, sometimes of another type. */
function valuesOf(schema: Schema): fc.Arbitrary<string> {
  return mostly(soundValuesOf(schema), anyJson, 12);
}

function soundValuesOf({
  type,
  format,
  enum: values,
  properties,
  required = [],
  ...schema
}: Schema): fc.Arbitrary<string> {
  if (properties) {
    return objectText(
      Object.entries(properties).map(([name, value]) => ({
        name,
        value: valuesOf(value as Schema),
        required: required.includes(name),
      })),
    );
  }
  if (values) return fc.constantFrom(...values.map((value) => JSON.stringify(value)));
  if (type === 'array') return valuesOf((schema as OpenAPIV3.ArraySchemaObject).items as Schema);
  if (type === 'integer') return format === 'int64' ? fitting.id : fitting.integer;
  if (type === 'boolean') return fitting.boolean;
  return format === 'date-time' ? fitting.date : fitting.text;
}
