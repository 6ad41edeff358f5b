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
import { analyse } from '../graphql/analysis';
import { annotationsOf, type StabilityLevel } from '../graphql/annotations';
import type { Scope } from '../graphql/caller';
import { ownDescription } from '../graphql/descriptions';
import { requiredScope } from '../graphql/directives';
import { errorsOf } from '../graphql/errors-directive';
import { type Inputs, inputsOf } from './inputs';
import { type Payload, payloadOf, rowWriterOf, type Writer, writerOf } from './payload';
import { type Method, pathParameters, type RestApi, type RestOperation, routeOf } from './rest-operation';

/** The stability of an operation, or of one of its parameters, as marked in the schema. */
export interface Stability {
  readonly level: StabilityLevel;
  readonly parameter?: string;
}

/** An operation with everything that can be computed at start. */
export interface PreparedOperation extends Omit<RestOperation, 'document' | 'body' | 'payload'> {
  /** `operationId` in OpenAPI. */
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly description: string;
  readonly document: DocumentNode;
  readonly inputs: Inputs;
  /** The field of the body that identifies the resource. It must equal the path parameter, if there is one. */
  readonly identity: { readonly field: string; readonly parameter: string | undefined };
  readonly payload: Payload;
  /** Whether it accepts an idempotency key. Other operations are safe to retry without a key. */
  readonly runsOnce: boolean;
  /** Whether it changes an existing resource, so that it accepts `If-Match`. */
  readonly isConditional: boolean;
  /** The errors of its own rules. */
  readonly errors: readonly string[];
  /** The scope that a caller needs; `undefined` if it needs none. */
  readonly scope: Scope | undefined;
  readonly stability: Stability | undefined;
  /** REST names by the paths that GraphQL's errors use: `after` → `cursor`, `input.name` → `name`. */
  readonly errorPaths: ReadonlyMap<string, string>;
  readonly write: Writer;
  /** Writes a row of the domain as the body of a read. */
  writeRow(row: object): string;
}

/** @throws Error that names the operation and the reason if it cannot be derived from its document and the schema. */
export function prepareAll(schema: GraphQLSchema, { operations, tags }: RestApi): PreparedOperation[] {
  const selections = new Map<string, string>();
  return operations.map((operation) => {
    try {
      const prepared = prepare(schema, operation, tags);
      const { type, members } = prepared.payload;
      requireSameSelection(selections, type.name, members);
      return prepared;
    } catch (error) {
      throw new Error(`REST operation ${operation.on}: ${(error as Error).message}`);
    }
  });
}

/** Checks that all operations select the same fields of a type: the type has one schema, and its ETags are compared. */
function requireSameSelection(known: Map<string, string>, type: string, members: Payload['members']): void {
  const selection = members.map(({ key }) => key).join(' ');
  const other = known.get(type) ?? selection;
  if (selection !== other) throw new Error(`it selects { ${selection} } of ${type}, others { ${other} }`);
  known.set(type, selection);
  for (const { field, selection } of members)
    if (selection) requireSameSelection(known, getNamedType(field.type).name, selection.fields);
}

function prepare(schema: GraphQLSchema, operation: RestOperation, tags: RestApi['tags']): PreparedOperation {
  const { method, path } = routeOf(operation);
  const tag = tags[path.split('/')[1] ?? ''];
  if (!tag) throw new Error(`no tag has ${path}`);
  const { document, id, ...source } = read(schema, operation.document);
  const { root } = analyse(source, {});
  const payload = payloadOf(root, operation);
  const inputs = inputsOf(source, operation);
  const all = [...inputs.path.values(), ...inputs.query.values(), ...(inputs.body?.inputs.values() ?? [])];
  const [parameter] = pathParameters(path);
  const rootField = root.fields[0]?.field as GraphQLField<unknown, unknown>;
  return {
    ...operation,
    id,
    method,
    path,
    tag: tag.name,
    description: operation.description ?? ownDescription(payload.field),
    document,
    inputs,
    identity: { field: payload.members.some(({ key }) => key === 'id') ? 'id' : (parameter ?? 'id'), parameter },
    payload,
    runsOnce: method === 'POST' || method === 'PATCH',
    isConditional: method !== 'GET' && method !== 'POST',
    errors: errorsOf(rootField),
    scope: requiredScope(rootField),
    stability: stabilityOf(schema, payload, inputs),
    errorPaths: new Map(all.map(({ errorPath, name }) => [errorPath, name])),
    write: writerOf(payload),
    writeRow: rowWriterOf(payload),
  };
}

/** A valid document of one named operation, without conditions. */
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

/** The stability of an input is the stability of its schema element. */
function stabilityOf(schema: GraphQLSchema, { field }: Payload, { query }: Inputs): Stability | undefined {
  const annotations = annotationsOf(schema);
  const level = annotations.get(field)?.stability;
  if (level) return { level };
  for (const { name, element } of query.values()) {
    const stability = annotations.get(element)?.stability;
    if (stability) return { level: stability, parameter: name };
  }
  return undefined;
}
