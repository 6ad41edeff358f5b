import {
  type FieldNode,
  type GraphQLOutputType,
  getNullableType,
  isListType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { JsonText, quoted } from '../graphql/execution/json-text';

/** Writes a value of a GraphQL result as JSON text. */
export type Writer = (value: unknown) => string;

/**
 * The writer for a field's selection: nulls are left out, and identifiers, which are strings in GraphQL, become JSON
 * integers, exact beyond 2^53.
 */
export function writerOf(type: GraphQLOutputType, selectionSet?: SelectionSetNode): Writer {
  const shape = getNullableType(type);
  if (isListType(shape)) {
    const write = writerOf(shape.ofType, selectionSet);
    return (list) => (list instanceof JsonText ? list.text : `[${(list as unknown[]).map(write).join(',')}]`);
  }
  if (isObjectType(shape)) {
    const fields = ((selectionSet?.selections ?? []) as readonly FieldNode[]).map((field) => {
      const key = field.name.value;
      const definition = shape.getFields()[key];
      if (!definition) throw new Error(`${shape.name} has no field ${key}`);
      return { key, name: `${JSON.stringify(key)}:`, write: writerOf(definition.type, field.selectionSet) };
    });
    return (value) => {
      if (value instanceof JsonText) return value.text;
      const object = value as Record<string, unknown>;
      let text = '{';
      for (const { key, name, write } of fields) {
        const field = object[key];
        if (field !== null && field !== undefined) text += (text === '{' ? name : `,${name}`) + write(field);
      }
      return `${text}}`;
    };
  }
  return VERBATIM.has(shape.name) ? String : (value) => quoted(value as string);
}

/** Scalars whose GraphQL result, as a string, is already their JSON text. */
const VERBATIM: ReadonlySet<string> = new Set(['ID', 'Int', 'Float', 'Boolean']);
