import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  parse,
  validate,
} from 'graphql';
import { annotationsOf, type StabilityLevel } from '../graphql/annotations';
import type { Scope } from '../graphql/caller';
import { ownDescription } from '../graphql/descriptions';
import { requiredScope } from '../graphql/directives';
import { errorsOf } from '../graphql/errors-directive';
import { type Body, bodyOf } from './body-shape';
import { type Inputs, inputsOf } from './inputs';
import { documentOf } from './operation-document';
import { type Payload, payloadOf } from './payload';
import { rowWriterOf, type Writer, writerOf } from './payload-writer';
import { type Method, type Operation, type RestApi, routeOf } from './rest-operation';

type Field = GraphQLField<unknown, unknown>;

/** The stability of an operation, or of one of its parameters, as marked in the schema. */
export interface Stability {
  readonly level: StabilityLevel;
  readonly parameter?: string;
}

/** An operation with everything computed that can be before the first request. */
export interface PreparedOperation extends Omit<Operation, 'payload'> {
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly description: string;
  /** The document that it runs; its variables are named after the arguments of the root field. */
  readonly document: DocumentNode;
  /** The field of the data that holds the result. */
  readonly root: string;
  /** The field of that one which is the result, if it is not itself. */
  readonly inner: string | undefined;
  readonly inputs: Inputs;
  readonly body: Body | undefined;
  readonly payload: Payload;
  /** Whether it accepts an idempotency key. The others can be retried as they are. */
  readonly runsOnce: boolean;
  /** Whether it changes what is there, and may be made to depend on its version. */
  readonly isConditional: boolean;
  /** The errors that it gives by rules of its own. */
  readonly errors: readonly string[];
  /** The scope that a caller needs; `undefined` if it needs none. */
  readonly scope: Scope | undefined;
  readonly stability: Stability | undefined;
  /** REST names by the paths that GraphQL's errors use: `after` → `cursor`, `input.name` → `name`. */
  readonly errorPaths: ReadonlyMap<string, string>;
  readonly write: Writer;
  /** Writes the resource, as the domain has it, as the body of a read. */
  writeRow(row: object): string;
}

/** @throws Error if an operation does not fit the schema. */
export function prepareAll(schema: GraphQLSchema, { operations, tags }: RestApi): PreparedOperation[] {
  return operations.map((operation) => {
    try {
      return prepare(schema, operation, tags);
    } catch (error) {
      throw new Error(`REST operation ${operation.id}: ${(error as Error).message}`);
    }
  });
}

function prepare(schema: GraphQLSchema, operation: Operation, tags: RestApi['tags']): PreparedOperation {
  const { method, path } = routeOf(operation);
  const tag = tags[path.split('/')[1] ?? ''];
  if (!tag) throw new Error(`no tag has ${path}`);
  const fields = fieldsOf(schema, operation);
  const [root, field = root] = fields;
  const payload = payloadOf(field, operation);
  const body = bodyOf(schema, field, operation, payload);
  const inputs = inputsOf(operation, field, body?.type);
  const all = [...inputs.path.values(), ...inputs.query.values(), ...inputs.body.values()];
  const document = parse(documentOf(operation, fields, all, payload));
  const [invalid] = validate(schema, document);
  if (invalid) throw invalid;
  return {
    ...operation,
    tag: tag.name,
    description: operation.description ?? ownDescription(field),
    method,
    path,
    document,
    root: root.name,
    inner: field === root ? undefined : field.name,
    inputs,
    body,
    payload,
    runsOnce: method === 'POST' || method === 'PATCH',
    isConditional: method !== 'GET' && method !== 'POST',
    errors: errorsOf(root),
    scope: requiredScope(root),
    stability: stabilityOf(schema, field, inputs),
    errorPaths: new Map(all.map(({ target, name }) => [target.join('.'), name])),
    write: writerOf(payload),
    writeRow: rowWriterOf(payload.type),
  };
}

/** The root field, and the field of it that an operation is for, if it is not for itself. */
function fieldsOf(schema: GraphQLSchema, { field: coordinate }: Operation): [root: Field, field?: Field] {
  const [rootType = '', ...names] = coordinate.split('.');
  let type: unknown = schema.getType(rootType);
  const fields = names.map((name) => {
    const found = isObjectType(type) ? type.getFields()[name] : undefined;
    if (!found) throw new Error(`the schema has no ${coordinate}`);
    type = getNamedType(found.type);
    return found;
  });
  return fields as [Field, Field?];
}

/** The stability of an input is that of its parameter. */
function stabilityOf(schema: GraphQLSchema, root: Field, { query }: Inputs): Stability | undefined {
  const annotations = annotationsOf(schema);
  const level = annotations.get(root)?.stability;
  if (level) return { level };
  for (const { name, element } of query.values()) {
    const stability = annotations.get(element)?.stability;
    if (stability) return { level: stability, parameter: name };
  }
  return undefined;
}
