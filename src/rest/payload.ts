import {
  type DocumentNode,
  execute,
  type FieldNode,
  type GraphQLObjectType,
  GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
  isScalarType,
  Kind,
  OperationTypeNode,
} from 'graphql';
import { JsonText } from '../database/reading/json-text';
import { ruleOf } from '../errors/input-checks';
import type { Context } from '../graphql/context';
import { hasOwnResolver } from '../graphql/declared-fields';
import type { SelectedField, SelectedFields } from '../graphql/selected';
import { quoted } from '../graphql/serialization';
import type { RestRoute } from './rest-route';
import { restNameOf, SCALARS, scalarNameOf } from './scalar-formats';

/** The content of a successful response: an object, a page of objects, or a list of objects. */
export interface Payload {
  /** The name of the payload's schema in OpenAPI: `Pet`, `Pets`. */
  readonly name: string;
  readonly type: GraphQLObjectType;
  /** The selected fields of each object. */
  readonly members: readonly SelectedField[];
  readonly isPage: boolean;
  /** Whether the payload is a page or a list, which is written as a JSON array. */
  readonly isList: boolean;
  /** Maximum number of items of a list that is not a page. */
  readonly maxItems?: number;
  /** The path from `data` of the GraphQL response to the payload, as response keys. */
  readonly keys: readonly string[];
  /** The GraphQL field that returns the payload. */
  readonly field: SelectedField['field'];
}

/**
 * Derives the payload from the document's selection.
 * @throws Error if the document does not select the fields that a payload needs.
 */
export function payloadOf(root: SelectedFields, { payload }: RestRoute): Payload {
  const [only, another] = root.fields;
  if (!only || another) throw new Error('the document must select one root field');
  const names = payload?.split('.') ?? [only.field.name];
  const path: SelectedField[] = [];
  for (const name of names) path.push(child(path.at(-1)?.selection ?? root, name, payload ?? name));
  const { field, selection = { fields: [] } } = path.at(-1) as SelectedField;
  const returned = getNamedType(field.type);
  if (!isObjectType(returned)) throw new Error(`${returned.name} is not an object type`);
  const isPage = 'nodes' in returned.getFields();
  const item = isPage ? child(selection, 'nodes', `${field.name}.nodes`) : undefined;
  if (isPage) {
    const info = child(selection, 'pageInfo', `${field.name}.pageInfo`).selection ?? { fields: [] };
    for (const name of ['hasNextPage', 'endCursor']) child(info, name, `${field.name}.pageInfo.${name}`);
  }
  const type = item ? (getNamedType(item.field.type) as GraphQLObjectType) : returned;
  const members = item?.selection?.fields ?? selection.fields;
  members.forEach(checkFormat);
  const isList = isPage || isListType(getNullableType(field.type));
  return {
    name: isList ? field.name.charAt(0).toUpperCase() + field.name.slice(1) : type.name,
    type,
    members,
    isPage,
    isList,
    ...(isList && !isPage && { maxItems: Math.max(...field.args.map((each) => ruleOf(each).maximum ?? 0)) }),
    keys: path.map(({ key }) => key),
    field,
  };
}

function child({ fields }: SelectedFields, name: string, path: string): SelectedField {
  const found = fields.find(({ field, key }) => field.name === name && key === name);
  if (!found) throw new Error(`the document does not select ${path}`);
  return found;
}

function checkFormat({ field, selection }: SelectedField): void {
  const type = getNamedType(field.type);
  if (isScalarType(type) && !SCALARS[type.name]) throw new Error(`REST has no format for the type ${type.name}`);
  selection?.fields.forEach(checkFormat);
}

/** Writes a value of a GraphQL result as JSON text. */
export type Writer = (value: unknown) => string;

/**
 * Creates the writer for a payload. It omits fields that are null. Identifiers, which are strings in GraphQL, become JSON
 * integers. Identifiers above 2^53 are not rounded.
 */
export function writerOf({ members, isList }: Payload): Writer {
  const write = objectWriter(members);
  return isList ? listWriter(write) : write;
}

/** Like {@link writerOf}, for one item of a list. */
export function itemWriterOf({ members }: Payload): Writer {
  return objectWriter(members);
}

/** @param context returns the context for the resolvers of fields. */
export type RowWriter = (row: object, context: () => Context) => string | Promise<string>;

/** Creates a function that writes a database row as JSON, exactly as a GET of the object would write it. */
export function rowWriterOf({ type, members }: Payload): RowWriter {
  const write = objectWriter(members);
  if (members.some(({ field }) => hasOwnResolver(field))) {
    const schema = new GraphQLSchema({ query: type });
    const document = documentOf(members.flatMap(({ nodes }) => nodes));
    return async (row, context) => {
      const { data, errors } = await execute({ schema, document, rootValue: row, contextValue: context() });
      if (errors?.[0]) throw errors[0];
      return write(data);
    };
  }
  return (row) => {
    const values = row as Readonly<Record<string, unknown>>;
    const result = members.map(({ key, field }) => {
      const value = values[field.name] ?? null;
      const type = getNamedType(field.type);
      return [key, value !== null && isLeafType(type) ? type.serialize(value) : value];
    });
    return write(Object.fromEntries(result));
  };
}

function documentOf(selections: readonly FieldNode[]): DocumentNode {
  const selectionSet = { kind: Kind.SELECTION_SET, selections } as const;
  const operation = { kind: Kind.OPERATION_DEFINITION, operation: OperationTypeNode.QUERY, selectionSet } as const;
  return { kind: Kind.DOCUMENT, definitions: [operation] };
}

function objectWriter(fields: readonly SelectedField[]): Writer {
  const members = fields.map(({ key, field, selection }) => ({
    key,
    name: `${JSON.stringify(key)}:`,
    write: valueWriter(field, selection),
  }));
  return (value) => {
    if (value instanceof JsonText) return value.text;
    const object = value as Record<string, unknown>;
    let text = '{';
    for (const { key, name, write } of members) {
      const field = object[key];
      if (field !== null && field !== undefined) text += (text === '{' ? name : `,${name}`) + write(field);
    }
    return `${text}}`;
  };
}

function valueWriter(field: SelectedField['field'], selection: SelectedFields | undefined): Writer {
  const write = selection ? objectWriter(selection.fields) : scalarOrEnumWriter(field);
  return isListType(getNullableType(field.type)) ? listWriter(write) : write;
}

function scalarOrEnumWriter(field: SelectedField['field']): Writer {
  const type = getNamedType(field.type);
  if (isEnumType(type)) return (value) => quoted(restNameOf(type, value as string));
  return VERBATIM.has(scalarNameOf(field)) ? String : (value) => quoted(value as string);
}

function listWriter(write: Writer): Writer {
  return (list) => (list instanceof JsonText ? list.text : `[${(list as unknown[]).map(write).join(',')}]`);
}

/** Scalars whose GraphQL result needs no quotation marks or escapes in JSON. */
const VERBATIM: ReadonlySet<string> = new Set(['ID', 'Int', 'Float', 'Boolean']);
