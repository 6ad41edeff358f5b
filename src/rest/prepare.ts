import {
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import type { StabilityLevel } from '../graphql/annotations/annotations';
import { Lifecycle } from '../graphql/annotations/lifecycle';
import type { Scope } from '../graphql/contract/enum-types';
import { type ErrorPaths, errorPathsOf } from './error-paths';
import { type Inputs, inputsOf } from './inputs';
import { type Method, type Operation, routeOf, takesIdempotencyKey } from './operation';
import { type Writer, writerOf } from './payload-writer';
import type { BodyRules } from './variables';

/** The stability of an operation, or of one of its parameters, as marked in the schema. */
export interface Stability {
  readonly level: StabilityLevel;
  readonly parameter?: string;
}

/** An operation with everything computed that can be before the first request. */
export interface PreparedOperation extends Operation {
  readonly method: Method;
  readonly path: string;
  readonly parsed: DocumentNode;
  readonly inputs: Inputs;
  readonly bodyRules?: BodyRules;
  /** Whether it accepts an idempotency key. */
  readonly runsOnce: boolean;
  /** The scope that a caller needs; `undefined` if it needs none. */
  readonly scope: Scope | undefined;
  readonly stability: Stability | undefined;
  readonly errorPaths: ErrorPaths;
  /** The field of the data that holds the result. */
  readonly root: string;
  /** Whether the result is a page of a list, whose nodes are the payload. */
  readonly isPage: boolean;
  readonly write: Writer;
}

/** @throws Error if the row is inconsistent: its document does not fit the schema, or its path or body the document. */
export function prepare(schema: GraphQLSchema, operation: Operation): PreparedOperation {
  const parsed = parse(operation.document);
  const [error] = validate(schema, parsed);
  if (error) throw new Error(`REST operation ${operation.id}: ${error.message}`);
  const definition = parsed.definitions[0] as OperationDefinitionNode;
  const [rootField] = definition.selectionSet.selections as readonly [FieldNode];
  const inputs = inputsOf(schema, operation, definition);
  const { method, path } = routeOf(operation);
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (inputs.path.size !== parameters.length || inputs.body.size > 0 !== (operation.body !== undefined))
    throw new Error(
      `REST operation ${operation.id}: the variables of its document do not fit its path or body`,
    );

  const type = fieldType(schema.getRootType(definition.operation), rootField);
  const nodes = fieldNamed(rootField, 'nodes');
  return {
    ...operation,
    method,
    path,
    parsed,
    inputs,
    ...(operation.body && { bodyRules: bodyRulesOf(operation, operation.body, method, parameters[0]) }),
    runsOnce: takesIdempotencyKey(operation),
    stability: stabilityOf(Lifecycle.of(schema, parsed, definition)),
    scope: scopeOf(schema.getRootType(definition.operation), rootField),
    errorPaths: errorPathsOf(rootField),
    root: rootField.name.value,
    isPage: nodes !== undefined,
    write: nodes
      ? writerOf(fieldType(getNamedType(type), nodes), nodes.selectionSet)
      : writerOf(type, rootField.selectionSet),
  };
}

/** A variable's stability is that of the parameter of the same name. */
function stabilityOf(lifecycle: Lifecycle | undefined): Stability | undefined {
  for (const { annotation, variable } of lifecycle?.uses ?? []) {
    if (annotation.stability)
      return { level: annotation.stability, ...(variable && { parameter: variable }) };
  }
  return undefined;
}

function scopeOf(root: GraphQLNamedType | null | undefined, { name }: FieldNode): Scope | undefined {
  const field = isObjectType(root) ? root.getFields()[name.value] : undefined;
  const mark = field?.astNode?.directives?.find((directive) => directive.name.value === 'requiresScope');
  const value = mark?.arguments?.[0]?.value;
  return value?.kind === Kind.ENUM ? (value.value as Scope) : undefined;
}

function bodyRulesOf(
  { identity: field = 'id' }: Operation,
  schema: string,
  method: Method,
  parameter: string | undefined,
): BodyRules {
  return { schema, identity: { field, ...(parameter && { parameter }) }, dropsNulls: method !== 'PATCH' };
}

function fieldNamed({ selectionSet }: FieldNode, name: string): FieldNode | undefined {
  const fields = (selectionSet?.selections ?? []) as readonly FieldNode[];
  return fields.find((field) => field.name.value === name);
}

function fieldType(parent: GraphQLNamedType | null | undefined, { name }: FieldNode): GraphQLOutputType {
  const field = isObjectType(parent) ? parent.getFields()[name.value] : undefined;
  if (!field) throw new Error(`${parent?.name} has no field ${name.value}`);
  return field.type;
}
