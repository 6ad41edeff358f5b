import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
} from 'graphql';
import { type Operation, pathParameters, routeOf } from './operation';
import type { Payload } from './payload';

/** How the body of an operation is read. */
export interface Body {
  readonly type: GraphQLInputObjectType;
  /** The field that identifies the resource, and the path parameter that it must equal; without one it is ignored. */
  readonly identity: { readonly field: string; readonly parameter: string | undefined };
  /** Whether it is a merge patch, where null has a meaning. Elsewhere null for an optional field means that it is absent. */
  readonly isPatch: boolean;
  /** The values of absent fields. */
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
  const type = inputType(schema, operation.body?.type ?? taken.name);
  const strange = Object.keys(type.getFields()).find((field) => !taken.getFields()[field]);
  if (strange) throw new Error(`${taken.name} has no field ${strange}`);
  const { method, path } = routeOf(operation);
  const [parameter] = pathParameters(path);
  return {
    type,
    identity: { field: payload.type.getFields().id ? 'id' : (parameter ?? 'id'), parameter },
    isPatch: method === 'PATCH',
    defaults: operation.body?.defaults ?? {},
  };
}

function inputType(schema: GraphQLSchema, name: string): GraphQLInputObjectType {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input type`);
  return type;
}
