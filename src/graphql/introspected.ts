import {
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import type { SelectedField } from './selected-field';

type Counts = ReadonlyMap<unknown, number>;
type Read = (source: unknown, args: object, context: undefined, info: { readonly schema: GraphQLSchema }) => unknown;

/**
 * The objects that introspection finds at one place of a query, and how often each. Since the schema does not change,
 * following the query from `__schema` gives the real length of every list.
 */
export class Introspected {
  readonly size: number = 0;
  private readonly inside = new Map<string, Introspected>();

  private constructor(
    readonly schema: GraphQLSchema,
    private readonly objects: Counts,
    /** How many values the field has that leads here: these objects or leaves, and one where there is none. */
    readonly values: number,
  ) {
    for (const times of objects.values()) this.size += times;
  }

  /** What `__schema` or `__type` finds; `undefined` for all other fields. The type that a variable names may be any. */
  static by({ field, nodes }: SelectedField, schema: GraphQLSchema): Introspected | undefined {
    if (field === SchemaMetaFieldDef) return new Introspected(schema, new Map([[schema, 1]]), 1);
    if (field !== TypeMetaFieldDef) return undefined;
    const name = nodes[0]?.arguments?.[0]?.value;
    const types = name?.kind === Kind.STRING ? [schema.getType(name.value)] : Object.values(schema.getTypeMap());
    return new Introspected(schema, new Map(types.flatMap((type) => (type ? [[type, 1]] : []))), 1);
  }

  /** What a field of these objects has, deprecated elements included. */
  under({ field }: SelectedField): Introspected {
    let known = this.inside.get(field.name);
    if (!known) {
      known = this.follow(field);
      this.inside.set(field.name, known);
    }
    return known;
  }

  private follow({ resolve, type }: SelectedField['field']): Introspected {
    const read = resolve as Read | undefined;
    const isList = isListType(getNullableType(type));
    if (!isList && isLeafType(getNamedType(type))) return new Introspected(this.schema, new Map(), this.size);
    const found = new Map<unknown, number>();
    let values = 0;
    for (const [object, times] of this.objects) {
      const value = read?.(object, { includeDeprecated: true }, undefined, this) ?? undefined;
      const items = isList ? ((value ?? []) as readonly unknown[]) : [value];
      values += times * Math.max(1, items.length);
      for (const item of items) if (item !== undefined) found.set(item, (found.get(item) ?? 0) + times);
    }
    return new Introspected(this.schema, found, values);
  }
}
