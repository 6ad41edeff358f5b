import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';

const META = Object.fromEntries(
  [SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].map((field) => [field.name, field]),
);

const LEAVES: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: (value) => typeof value === 'string' && /^([1-9]\d{0,18}|[0-9a-z]{12}|[\w-]{7,40})$/.test(value),
  Int: (value) => Number.isInteger(value) && (value as number) === ((value as number) | 0),
  Boolean: (value) => typeof value === 'boolean',
  String: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  DateTime: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
};

/** Where data does not match what the document selects, by the types of the schema: in words, with the path. */
export function misfits(schema: GraphQLSchema, document: DocumentNode, data: unknown): string[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  // Which of several operations ran is not checked: the data must fit one of them.
  const found = document.definitions.flatMap((node) => {
    const root = node.kind === Kind.OPERATION_DEFINITION && schema.getRootType(node.operation);
    return root ? [ofObject(root, [node.selectionSet], data, node.operation)] : [];
  });
  return found.some((faults) => !faults.length) ? [] : (found[0] ?? ['data of no operation']);

  function ofObject(type: GraphQLObjectType, sets: SelectionSetNode[], value: unknown, path: string): string[] {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${path} is no object`];
    const asked = new Map<string, { nodes: FieldNode[]; optional: boolean }>();
    for (const set of sets) collect(type, set, asked, false);
    const strange = Object.keys(value).filter((key) => !asked.has(key));
    const faults = strange.map((key) => `${path}.${key} was not asked for`);
    for (const [key, { nodes, optional }] of asked) {
      const name = nodes[0]?.name.value ?? '';
      const field = META[name] ?? type.getFields()[name];
      if (!field) faults.push(`${path}.${key} is no field of ${type.name}`);
      else if (!Object.hasOwn(value, key)) {
        if (!optional) faults.push(`${path}.${key} is missing`);
      } else {
        const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
        faults.push(...ofType(field.type, inner, (value as Record<string, unknown>)[key], `${path}.${key}`));
      }
    }
    return faults;
  }

  function ofType(type: GraphQLOutputType, sets: SelectionSetNode[], value: unknown, path: string): string[] {
    if (isNonNullType(type)) return value === null ? [`${path} is null`] : ofType(type.ofType, sets, value, path);
    if (value === null) return [];
    if (isListType(type)) {
      if (!Array.isArray(value)) return [`${path} is no list`];
      return value.flatMap((item, i) => ofType(type.ofType, sets, item, `${path}.${i}`));
    }
    if (isObjectType(type)) return ofObject(type, sets, value, path);
    if (isAbstractType(type)) {
      const found = schema.getPossibleTypes(type).map((each) => ofObject(each, sets, value, path));
      return found.some((faults) => !faults.length) ? [] : (found[0] ?? []);
    }
    const fits = isEnumType(type) ? type.getValues().some(({ name }) => name === value) : LEAVES[type.name]?.(value);
    return fits ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`];
  }

  function applies(condition: NamedTypeNode | undefined, type: GraphQLObjectType): boolean {
    const named = condition && schema.getType(condition.name.value);
    return !named || named === type || (isAbstractType(named) && schema.isSubType(named, type));
  }

  function collect(
    type: GraphQLObjectType,
    set: SelectionSetNode,
    asked: Map<string, { nodes: FieldNode[]; optional: boolean }>,
    mayBeLeftOut: boolean,
  ): void {
    for (const node of set.selections) {
      const optional = mayBeLeftOut || !!node.directives?.length;
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        const known = asked.get(key);
        if (known) asked.set(key, { nodes: [...known.nodes, node], optional: known.optional && optional });
        else asked.set(key, { nodes: [node], optional });
      } else {
        const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        if (inner && applies(inner.typeCondition, type)) collect(type, inner.selectionSet, asked, optional);
      }
    }
  }
}
