import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  Kind,
  parse,
  validate,
  visit,
} from 'graphql';
import type { Scope } from '../graphql/caller';
import { ownDescription } from '../graphql/descriptions';
import { errorsOf, requiredScope, type StabilityLevel, stabilityOf } from '../graphql/directives';
import { Analysis } from '../graphql/operation';
import { type Inputs, inputsOf } from './inputs';
import { itemWriterOf, type Payload, payloadOf, type RowWriter, rowWriterOf, type Writer, writerOf } from './payload';
import { filler, type Method, methodAndPath, pathParameters, type RestApi, type RestRoute } from './rest-route';

/** The stability of an operation, or of one of its parameters, as marked in the schema. */
export interface Stability {
  readonly level: StabilityLevel;
  readonly parameter?: string;
}

/** A route, with everything that the gateway computes for it at the start. */
export interface PreparedRoute extends Omit<RestRoute, 'document' | 'body' | 'payload' | 'location'> {
  /** `operationId` in OpenAPI. */
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly description: string;
  readonly document: DocumentNode;
  readonly inputs: Inputs;
  /** The body field and the path parameter that identify the resource. If a request has both, their values must be equal. */
  readonly identity: { readonly field: string; readonly parameter: string | undefined };
  readonly payload: Payload;
  /** Whether the operation accepts an idempotency key. All other operations are safe to retry without a key. */
  readonly acceptsIdempotencyKey: boolean;
  /** Whether the operation changes an existing resource, and therefore accepts `If-Match` and `If-None-Match`. */
  readonly isConditional: boolean;
  /** The error codes that are specific to the operation. */
  readonly errors: readonly string[];
  /** The scope that the operation requires; `undefined` if it requires none. */
  readonly scope: Scope | undefined;
  readonly stability: Stability | undefined;
  /** Maps the paths in GraphQL errors to REST names: `after` → `cursor`, `input.name` → `name`. */
  readonly errorPaths: ReadonlyMap<string, string>;
  /** Fills the path of a page's next page from the path parameters. */
  pathOf(parameters: Readonly<Record<string, string>>): string;
  /** Fills the path of a created object from the path parameters and the object; `undefined` unless the status is 201. */
  readonly locationOf: ((values: Readonly<Record<string, string>>) => string) | undefined;
  readonly write: Writer;
  /** Writes one item of a list. */
  readonly writeItem: Writer;
  /**
   * Writes a database row as JSON, exactly as a GET of the resource would. The ETag of this JSON is compared with
   * `If-Match` and `If-None-Match`.
   */
  readonly writeRow: RowWriter;
}

/**
 * Prepares all routes.
 * @throws Error with the route and the reason if a route does not fit its document or the schema.
 */
export function prepareRoutes(schema: GraphQLSchema, { routes, tags }: RestApi): PreparedRoute[] {
  const selections = new Map<string, string>();
  const readable = new Set(routes.flatMap(({ on }) => (on.startsWith('GET ') ? shapeOf(on.slice(4)) : [])));
  return routes.map((route) => {
    try {
      const prepared = prepare(schema, route, tags, readable);
      const { type, members } = prepared.payload;
      requireSameSelection(selections, type.name, members);
      return prepared;
    } catch (error) {
      throw new Error(`REST operation ${route.on}: ${(error as Error).message}`);
    }
  });
}

/**
 * Checks that all operations select the same fields of a type. A type has only one OpenAPI schema, and the ETags of all its
 * representations must be comparable.
 */
function requireSameSelection(known: Map<string, string>, type: string, members: Payload['members']): void {
  const selection = members.map(({ key }) => key).join(' ');
  const other = known.get(type) ?? selection;
  if (selection !== other)
    throw new Error(`it selects { ${selection} } of ${type}, but other operations select { ${other} }`);
  known.set(type, selection);
  for (const { field, selection } of members)
    if (selection) requireSameSelection(known, getNamedType(field.type).name, selection.fields);
}

/** A path without the names of its parameters. */
function shapeOf(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}

/**
 * The template of the `Location` header.
 * @param readable the shapes of the paths of GET operations.
 * @throws Error if the template cannot be filled, or if no GET operation has such a path.
 */
function locationOf({ location, ok }: RestRoute, path: string, payload: Payload, readable: ReadonlySet<string>) {
  if (ok !== 201) return undefined;
  const template = location ?? `${path}/{id}`;
  const known = [...pathParameters(path), ...payload.members.map(({ key }) => key)];
  requireFillable(`Location ${template}`, template, known);
  if (!readable.has(shapeOf(template)))
    throw new Error(`its Location ${template} is not the path of a GET operation; set \`location\``);
  return filler(template);
}

/** @throws Error if a parameter of the template is not among the known names. */
function requireFillable(what: string, template: string, known: readonly string[]): void {
  const unknown = pathParameters(template).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const names = known.length ? `none of ${known.join(', ')}` : 'not known';
  throw new Error(`${what} needs ${unknown}, which is ${names}`);
}

function prepare(
  schema: GraphQLSchema,
  route: RestRoute,
  tags: RestApi['tags'],
  readable: ReadonlySet<string>,
): PreparedRoute {
  const { method, path } = methodAndPath(route);
  const tag = tags[path.split('/')[1] ?? ''];
  if (!tag) throw new Error(`no tag covers ${path}`);
  const { document, id, ...source } = read(schema, route.document);
  const { root } = new Analysis(source, {});
  const payload = payloadOf(root, route);
  const inputs = inputsOf(source, route);
  const all = [...inputs.path.values(), ...inputs.query.values(), ...(inputs.body?.inputs.values() ?? [])];
  const [parameter] = pathParameters(path);
  const { missing, deprecation } = route;
  if (missing !== undefined) requireFillable('the message', missing, pathParameters(path));
  if (deprecation) requireFillable('the successor', deprecation.successor, pathParameters(path));
  const rootField = root.fields[0]?.field as GraphQLField<unknown, unknown>;
  return {
    ...route,
    id,
    method,
    path,
    tag: tag.name,
    description: route.description ?? ownDescription(payload.field),
    document,
    inputs,
    identity: { field: payload.members.some(({ key }) => key === 'id') ? 'id' : (parameter ?? 'id'), parameter },
    payload,
    acceptsIdempotencyKey: method === 'POST' || method === 'PATCH',
    isConditional: method !== 'GET' && method !== 'POST',
    errors: errorsOf(rootField),
    scope: requiredScope(rootField),
    stability: routeStability(payload, inputs),
    errorPaths: new Map(all.map(({ errorPath, name }) => [errorPath, name])),
    pathOf: filler(path),
    locationOf: locationOf(route, path, payload, readable),
    write: writerOf(payload),
    writeItem: itemWriterOf(payload),
    writeRow: rowWriterOf(payload),
  };
}

/**
 * Parses a document. The document must be valid and without directives. It must have exactly one operation, and the
 * operation must have a name.
 */
function read(schema: GraphQLSchema, text: string) {
  const document = parse(text);
  const [invalid] = validate(schema, document);
  if (invalid) throw invalid;
  visit(document, {
    Directive: ({ name }) => {
      throw new Error(`the document must not use @${name.value}`);
    },
  });
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  const parts = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  const fragments = Object.fromEntries(parts.map((fragment) => [fragment.name.value, fragment]));
  const [node, another] = operations;
  const id = node?.name?.value;
  if (!node || another || id === undefined) throw new Error('the document must have one operation, with a name');
  return { document, id, schema, node, fragments };
}

/** The stability of the payload's field, or else of the first query parameter that is marked with a stability. */
function routeStability({ field }: Payload, { query }: Inputs): Stability | undefined {
  const level = stabilityOf(field);
  if (level) return { level };
  for (const { name, element } of query.values()) {
    const stability = stabilityOf(element);
    if (stability) return { level: stability, parameter: name };
  }
  return undefined;
}
