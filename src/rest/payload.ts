import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { ruleOf } from '../errors/inputs';
import type { Operation } from './rest-operation';

type Field = GraphQLField<unknown, unknown>;

/** What an operation returns: an object, a page of them, or a list. */
export interface Payload {
  /** The name of its schema: `Pet`, `Pets`. */
  readonly name: string;
  readonly type: GraphQLObjectType;
  readonly fields: readonly Field[];
  readonly isPage: boolean;
  /** Whether it is written as an array: a page, or a list as it is. */
  readonly isList: boolean;
  /** The most items of a list that is no page. */
  readonly maxItems?: number;
}

/** @throws Error if the root field returns no object, or a named field does not exist. */
export function payloadOf(root: Field, { payload: names, ok }: Operation): Payload {
  const returned = objectType(root.type);
  const nodes = returned.getFields().nodes;
  const type = nodes ? objectType(nodes.type) : returned;
  const named = names?.map((name) => {
    const field = type.getFields()[name];
    if (!field) throw new Error(`${type.name} has no field ${name}`);
    return field;
  });
  const fields = named ?? valuesOf(type);
  const isList = nodes !== undefined || isListType(getNullableType(root.type));
  // What is not returned is not read, but GraphQL requires a field.
  return {
    name: isList ? capitalised(root.name) : type.name,
    type,
    fields: ok === 204 ? fields.slice(0, 1) : fields,
    isPage: nodes !== undefined,
    isList,
    ...(!nodes && isList && { maxItems: Math.max(...root.args.map((argument) => ruleOf(argument).maximum ?? 0)) }),
  };
}

/** The fields of a type that payloads have unless a row names them: its own values, but no relations and no `nodeId`. */
export function valuesOf(type: GraphQLObjectType): Field[] {
  const ofInterfaces = new Set(type.getInterfaces().flatMap((each) => Object.keys(each.getFields())));
  return Object.values(type.getFields()).filter(
    ({ name, type, args }) => isLeafType(getNamedType(type)) && !args.length && !ofInterfaces.has(name),
  );
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function objectType(type: GraphQLOutputType): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new Error(`${named.name} is no object type`);
  return named;
}
