import {
  type FieldNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isLeafType,
  isListType,
  Kind,
  type OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { ProblemError } from '../errors/errors';
import type { Rule } from '../errors/input-checks';
import { MAX_PAGE } from './connection';
import { type CoercedVariables, NO_VARIABLES } from './context';
import { listSizeOf, WEIGHTS, weightOf } from './cost-directives';
import type { SelectedField, SelectedFields } from './selected';

/** A number that may depend on the variables of a request. */
export interface Estimate {
  /** The maximum over all possible variables. */
  readonly most: number;
  /** Returns the value for these variables. Absent if the value is always `most`. */
  readonly at?: (variables: CoercedVariables) => number;
}

function constant(value: number): Estimate {
  return { most: value };
}

function sum(terms: readonly Estimate[]): Estimate {
  const most = terms.reduce((total, term) => total + term.most, 0);
  const varying = terms.flatMap(({ at }) => at ?? []);
  if (!varying.length) return constant(most);
  const fixed = terms.reduce((total, term) => total + (term.at ? 0 : term.most), 0);
  return { most, at: (variables) => varying.reduce((total, at) => total + at(variables), fixed) };
}

function times(a: Estimate, b: Estimate): Estimate {
  const most = a.most * b.most;
  if (!a.at && !b.at) return constant(most);
  return { most, at: (variables) => estimateAt(a, variables) * estimateAt(b, variables) };
}

export function estimateAt({ most, at }: Estimate, variables: CoercedVariables): number {
  return at ? at(variables) : most;
}

/**
 * The maximum estimated cost of one operation, by kind; `free` is the maximum for operations that use no quota. The limit on
 * subscriptions applies to each event, since a subscription is charged only when it starts.
 */
export type CostLimits = Readonly<Record<`${OperationTypeNode}` | 'free', number>>;

/** Events use no quota, so the cost of each event must be small. */
const MAX_EVENT_COST = 250;
/**
 * The maximum cost of an operation that uses no quota. Callers may send ten times as many of these operations as counted
 * operations, so this limit is lower. The introspection query of a typical tool costs half of this limit.
 */
const MAX_FREE_COST = 10_000;

/** @param most the maximum estimated cost of a counted operation. */
export function costLimits(most: number): CostLimits {
  const [event, free] = [Math.min(most, MAX_EVENT_COST), Math.min(most, MAX_FREE_COST)];
  return { query: most, mutation: most, subscription: event, free };
}

/** The part of an operation's analysis that the cost limits need. */
interface Estimated {
  readonly root: SelectedFields;
  readonly estimate: Estimate;
  /** The number of statements that read related rows. */
  readonly related: number;
  /** The number of requests that the operation counts as. */
  readonly countedFields: number;
}

/** Maximum number of schema elements that an error message names. */
const NAMED = 3;

/**
 * Checks the estimated cost of an operation. A subscription must also select no lists with `@listSize`.
 * @param estimated the estimated cost for these variables.
 * @throws ProblemError `OPERATION_TOO_COMPLEX`.
 */
export function requireCost(
  { schema, kind }: { readonly schema: GraphQLSchema; readonly kind: `${OperationTypeNode}` },
  { root, estimate, related, countedFields }: Estimated,
  variables: CoercedVariables,
  limits: CostLimits,
  estimated = estimateAt(estimate, variables),
): void {
  const isEvent = kind === 'subscription';
  const pages = isEvent ? pagesIn(root) : [];
  if (pages.length) {
    const message = `An event of a subscription can contain single related objects, but no pages or counts. Remove ${pages.join(', ')}.`;
    throw new ProblemError('OPERATION_TOO_COMPLEX', message);
  }
  const most = countedFields === 0 ? limits.free : limits[kind];
  const cost = Math.round(estimated);
  if (cost <= most) return;
  const what = isEvent ? 'An event of the subscription' : 'The operation';
  const dearest = dearestOf(new FieldCosts(schema).shares(root, related, variables));
  const allowed = countedFields === 0 ? 'is allowed for operations that use no quota' : 'is allowed';
  const message = `${what} has an estimated cost of ${cost}; at most ${most} ${allowed}. Most expensive parts: ${dearest}. Request less of these.`;
  throw new ProblemError('OPERATION_TOO_COMPLEX', message);
}

/** The schema elements with the highest costs, as text: `Pet.id 10000, Pet.name 10000`. */
function dearestOf(shares: ReadonlyMap<string, number>): string {
  const dearest = [...shares].filter(([, share]) => share > 0).sort(([, a], [, b]) => b - a);
  const named = dearest.slice(0, NAMED).map(([element, share]) => `${element} ${Math.round(share)}`);
  return named.join(', ');
}

function pagesIn({ fields }: SelectedFields): string[] {
  const pages = fields.flatMap(({ field, coordinate, selection }) => [
    ...(listSizeOf(field) ? [coordinate] : []),
    ...(selection ? pagesIn(selection) : []),
  ]);
  return [...new Set(pages)];
}

/** Response keys of up to this many characters cost nothing. Every further 16 characters, or part of them, cost 1. */
const NAME_LENGTH = 16;
/** The assumed length of lists whose `@listSize` has no `assumedSize`. */
const ASSUMED_LENGTH = MAX_PAGE;

/**
 * Information about the parent objects of a selection. The lengths of the lists in the selection depend on this
 * information.
 */
interface Place {
  /** If the parent is a connection: the names of its fields that list the page's items, and the page size. */
  readonly page?: { readonly fields: readonly string[]; readonly length: Estimate };
  readonly introspected?: Introspected;
}

/** The cost of a selected field in each parent object. */
interface FieldCost {
  /** The costs of the field's values, response key and arguments. Error messages name each cost by `what`. */
  readonly own: readonly (readonly [what: string, cost: Estimate])[];
  /** The number of child objects. The cost of the field's selection applies to each of them. */
  readonly length: Estimate;
  readonly inside: Place;
}

/**
 * Estimates the cost of an operation before it runs: how much it reads, writes and sends. Each field costs 1, or the weight in
 * its `@cost`, for every object that has the field. `@listSize` gives the lengths of lists, whose items cost 1 each. In
 * introspection, lists have their actual lengths. Long response keys and arguments add to the cost.
 */
export class FieldCosts {
  constructor(private readonly schema: GraphQLSchema) {}

  /** @param related the number of statements that read related rows (statements.ts). */
  total(root: SelectedFields, related: number): Estimate {
    return sum([this.under(root), constant(related * WEIGHTS.statement)]);
  }

  private under({ fields }: SelectedFields, place: Place = {}): Estimate {
    return sum(
      fields.map((field) => {
        const { own, length, inside } = this.of(field, place);
        const below = field.selection ? times(length, this.under(field.selection, inside)) : constant(0);
        return sum([...own.map(([, cost]) => cost), below]);
      }),
    );
  }

  /** How much each schema element adds to the total for these variables. */
  shares(root: SelectedFields, related: number, variables: CoercedVariables): ReadonlyMap<string, number> {
    const shares = new Map([['statements for related rows', related * WEIGHTS.statement]]);
    const visit = ({ fields }: SelectedFields, place: Place, objects: number) => {
      for (const field of fields) {
        const { own, length, inside } = this.of(field, place);
        for (const [what, cost] of own)
          shares.set(what, (shares.get(what) ?? 0) + objects * estimateAt(cost, variables));
        if (field.selection) visit(field.selection, inside, objects * estimateAt(length, variables));
      }
    };
    visit(root, {}, 1);
    return shares;
  }

  private of(selected: SelectedField, { page, introspected }: Place): FieldCost {
    const { field, key, coordinate, nodes } = selected;
    const found = introspected?.under(selected) ?? Introspected.by(selected, this.schema);
    const parents = introspected?.size ?? 1;
    const listSize = listSizeOf(field);
    const isList = isListType(getNullableType(field.type));
    const sized = page?.fields.includes(field.name) ? page.length : isList ? lengthOf(field, nodes[0]) : constant(1);
    const values = found ? constant(ratio(found.values, parents)) : sized;
    return {
      own: [
        [
          coordinate,
          isList ? sum([constant(weightOf(field, 0)), values]) : times(values, constant(weightOf(field, 1))),
        ],
        [`names of more than ${NAME_LENGTH} characters`, constant(Math.ceil(key.length / NAME_LENGTH) - 1)],
        ...argumentsOf(selected),
      ],
      length: found ? constant(ratio(found.size, parents)) : sized,
      inside: {
        introspected: found,
        ...(listSize?.sizedFields && { page: { fields: listSize.sizedFields, length: lengthOf(field, nodes[0]) } }),
      },
    };
  }
}

function argumentsOf({ field, coordinate, nodes }: SelectedField): [string, Estimate][] {
  return (nodes[0]?.arguments ?? []).flatMap(({ name, value }): [string, Estimate][] => {
    const argument = field.args.find((each) => each.name === name.value);
    if (!argument) return [];
    return [[`${coordinate}(${argument.name}:)`, estimateValue(argument.type, weightOf(argument, 0), value)]];
  });
}

/** The average number of values for each parent object; 0 without parent objects. */
function ratio(values: number, parents: number): number {
  return parents && values / parents;
}

function lengthOf(field: GraphQLField<unknown, unknown>, node: FieldNode | undefined): Estimate {
  const { assumedSize = ASSUMED_LENGTH, slicingArguments = [] } = listSizeOf(field) ?? {};
  const slicing = field.args.filter(({ name }) => slicingArguments.includes(name));
  const most = Math.max(...slicing.map(({ extensions }) => (extensions.rule as Rule | undefined)?.maximum ?? MAX_PAGE));
  const given = slicingArguments.flatMap(
    (name) => node?.arguments?.find((argument) => argument.name.value === name)?.value ?? [],
  );
  const at = (variables: CoercedVariables) => {
    const lengths = given.map((value) => lengthIn(value, most, variables));
    return lengths.find((length) => length !== undefined) ?? assumedSize;
  };
  const varies = given.some(holdsVariable);
  return varies ? { most, at } : constant(at(NO_VARIABLES));
}

/** Execution rejects lengths out of bounds later. Until then, a negative length must not reduce the estimated total. */
function lengthIn(node: ValueNode, most: number, variables: CoercedVariables): number | undefined {
  const value = valueFromASTUntyped(node, variables);
  const length = Array.isArray(value) ? value.length : value;
  return typeof length === 'number' ? Math.min(Math.max(length, 0), most) : undefined;
}

/** Maximum number of items of a list argument. Each item takes at least a byte of the request body of at most 100 KiB. */
const MAX_ITEMS = 100 * 1024;

/**
 * Estimates the cost of a value for an argument or an input field. A null costs nothing. Other values cost their weight,
 * plus the weights of the input fields inside them. Each item of a list costs 1.
 */
function estimateValue(type: GraphQLInputType, weight: number, node: ValueNode): Estimate {
  if (!holdsVariable(node)) return constant(costOf(type, weight, valueFromASTUntyped(node)));
  const most = weight + mostInside(type);
  // If the maximum is 0, as for most arguments, the cost does not depend on the variables.
  return most ? { most, at: (variables) => costOf(type, weight, valueFromASTUntyped(node, variables)) } : constant(0);
}

function holdsVariable(node: ValueNode): boolean {
  if (node.kind === Kind.LIST) return node.values.some(holdsVariable);
  if (node.kind === Kind.OBJECT) return node.fields.some(({ value }) => holdsVariable(value));
  return node.kind === Kind.VARIABLE;
}

function costOf(type: GraphQLInputType, weight: number, value: unknown): number {
  if (value === null || value === undefined) return 0;
  const shape = getNullableType(type);
  if (isListType(shape)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (isLeafType(getNamedType(shape))) return weight + items.length;
    return items.reduce((cost: number, item) => cost + costOf(shape.ofType, 1, item), weight);
  }
  if (!isInputObjectType(shape) || typeof value !== 'object') return weight;
  const fields = shape.getFields();
  let cost = weight;
  for (const [name, inner] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) && fields[name];
    if (field) cost += costOf(field.type, weightOf(field, 0), inner);
  }
  return cost;
}

/** The maximum cost of a value of this type, in addition to the weight of its argument or input field. */
function mostInside(type: GraphQLInputType): number {
  const shape = getNullableType(type);
  if (isListType(shape)) return MAX_ITEMS;
  if (!isInputObjectType(shape)) return 0;
  const fields = Object.values(shape.getFields());
  return fields.reduce((most, field) => most + weightOf(field, 0) + mostInside(field.type), 0);
}

type Counts = ReadonlyMap<unknown, number>;
type Read = (source: unknown, args: object, context: undefined, info: { readonly schema: GraphQLSchema }) => unknown;

/**
 * The schema objects that one field of an introspection query returns, and how often each occurs. The schema is fixed, so
 * following the query from `__schema` gives the exact length of every list.
 */
class Introspected {
  readonly size: number = 0;
  private readonly inside = new Map<string, Introspected>();

  private constructor(
    readonly schema: GraphQLSchema,
    private readonly objects: Counts,
    /** The number of values of the field that returns these objects. A null or an empty list counts as one value. */
    readonly values: number,
  ) {
    for (const times of objects.values()) this.size += times;
  }

  /**
   * The objects that `__schema` or `__type` returns; `undefined` for all other fields. If a variable names the type, the
   * estimate covers all types together.
   */
  static by({ field, nodes }: SelectedField, schema: GraphQLSchema): Introspected | undefined {
    if (field === SchemaMetaFieldDef) return new Introspected(schema, new Map([[schema, 1]]), 1);
    if (field !== TypeMetaFieldDef) return undefined;
    const name = nodes[0]?.arguments?.[0]?.value;
    const types = name?.kind === Kind.STRING ? [schema.getType(name.value)] : Object.values(schema.getTypeMap());
    return new Introspected(schema, new Map(types.flatMap((type) => (type ? [[type, 1]] : []))), 1);
  }

  /**
   * Follows a field from the objects of this instance to the objects that the field returns, including deprecated elements.
   */
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
