import { collectFields, collectSubFields } from '@graphql-tools/utils';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import type { Scope } from './caller';
import type { Estimate, SelectedField, SelectedFields } from './cost';
import { FieldCosts } from './cost';
import { isCounted, requiredScope } from './directives';

/** One operation of a validated document. */
export interface Source {
  readonly schema: GraphQLSchema;
  readonly node: OperationDefinitionNode;
  readonly fragments: Record<string, FragmentDefinitionNode>;
}

/** The static analysis of an operation for given values of the variables in `@skip` and `@include`. */
export interface Analysis {
  readonly root: SelectedFields;
  /** The number of selected fields with `@rateLimit`. The operation counts as this number of requests. */
  readonly countedFields: number;
  /** The scopes that `@requiresScope` requires for the selected fields. */
  readonly scopes: ReadonlySet<Scope>;
  /** The estimated cost. */
  readonly estimate: Estimate;
}

type Conditions = Readonly<Record<string, unknown>>;
type Field = GraphQLField<unknown, unknown>;
type Nodes = ReadonlyMap<string, readonly FieldNode[]>;

/** @param conditions the values of the variables in `@skip` and `@include`. */
export function analyse(source: Source, conditions: Conditions): Analysis {
  const { schema, fragments, node } = source;
  const scopes = new Set<Scope>();
  let countedFields = 0;
  const selection = (type: GraphQLObjectType, nodes: Nodes): SelectedFields => ({
    fields: [...nodes].flatMap(([key, fieldNodes]): SelectedField[] => {
      const field = fieldOf(schema, type, fieldNodes[0]?.name.value ?? '');
      if (!field) return [];
      if (isCounted(field)) countedFields++;
      const scope = requiredScope(field);
      if (scope) scopes.add(scope);
      const coordinate = `${type.name}.${field.name}`;
      return [{ key, field, coordinate, nodes: fieldNodes, selection: below(field, fieldNodes) }];
    }),
  });
  const below = (field: Field, nodes: readonly FieldNode[]): SelectedFields | undefined => {
    const type = getNamedType(field.type);
    if (isLeafType(type)) return undefined;
    const selectionOf = (each: GraphQLObjectType) =>
      selection(each, collectSubFields(schema, fragments, conditions, each, [...nodes]).fields);
    return isObjectType(type) ? selectionOf(type) : anyOf(schema.getPossibleTypes(type).map(selectionOf));
  };
  const type = schema.getRootType(node.operation) as GraphQLObjectType;
  const root = selection(type, collectFields(schema, fragments, conditions, type, node.selectionSet).fields);
  return { root, countedFields, scopes, estimate: new FieldCosts(schema).total(root) };
}

/** The definition of a field, including the fields of introspection (GraphQL, section 4). */
export function fieldOf(schema: GraphQLSchema, parent: GraphQLObjectType, name: string): Field | undefined {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  const metaFields = parent === schema.getQueryType() ? [SchemaMetaFieldDef, TypeMetaFieldDef] : [];
  return metaFields.find((meta) => meta.name === name) ?? parent.getFields()[name];
}

/** Merges the selections of several possible types. A field node that applies to several types is listed once. */
function anyOf(selections: readonly SelectedFields[]): SelectedFields {
  const fields = new Map(selections.flatMap((each) => each.fields.map((field) => [field.nodes[0], field])));
  return { fields: [...fields.values()] };
}
