import {
  coerceInputValue,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isRequiredInputField,
} from 'graphql';
import { ruleOf } from '../errors/inputs';
import type { Payload } from './payload';
import { type Operation, pathParameters, routeOf } from './rest-operation';

/** How the body of an operation is read. */
export interface Body {
  readonly type: GraphQLInputObjectType;
  /** The field that identifies the resource, and the path parameter that it must equal; without one it is ignored. */
  readonly identity: { readonly field: string; readonly parameter: string | undefined };
  /** Whether it is a merge patch, where null has a meaning. Elsewhere null for an optional field means that it is absent. */
  readonly isPatch: boolean;
  /** The values of absent fields, coerced. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** The body of an operation whose root field has an `input`. @throws Error if the row names no type that fits it. */
export function bodyOf(
  schema: GraphQLSchema,
  { args }: GraphQLField<unknown, unknown>,
  operation: Operation,
  payload: Payload,
): Body | undefined {
  const input = args.find(({ name }) => name === 'input');
  if (!input) return undefined;
  const taken = inputType(schema, getNamedType(input.type).name);
  const type = inputType(schema, operation.replaces?.type ?? taken.name);
  const strange = Object.keys(type.getFields()).find((field) => !taken.getFields()[field]);
  if (strange) throw new Error(`${taken.name} has no field ${strange}`);
  const { method, path } = routeOf(operation);
  const [parameter] = pathParameters(path);
  return {
    type,
    identity: { field: payload.type.getFields().id ? 'id' : (parameter ?? 'id'), parameter },
    isPatch: method === 'PATCH',
    defaults: operation.replaces ? defaultsOf(type, taken, operation.replaces.defaults) : {},
  };
}

/** The values of the optional fields of a body that replaces an object, where they are absent. */
function defaultsOf(
  type: GraphQLInputObjectType,
  taken: GraphQLInputObjectType,
  given: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const optional = Object.values(type.getFields()).filter((field) => !isRequiredInputField(field));
  return Object.fromEntries(
    optional.map(({ name }) => {
      const field = taken.getFields()[name];
      const isMissing = given[name] === undefined && field && ruleOf(field).nullable === false;
      if (isMissing) throw new Error(`${type.name}.${name} needs a default`);
      return [name, field && coerceInputValue(given[name] ?? null, field.type)];
    }),
  );
}

function inputType(schema: GraphQLSchema, name: string): GraphQLInputObjectType {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input type`);
  return type;
}
