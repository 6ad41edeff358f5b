import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  type TypeNode,
  typeFromAST,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Notice, noticeOf } from './lifecycle-notice';
import { collectMarks, holdsMarks } from './marked-values';
import { type Mark, type Marks, marksOf } from './marks';
import type { Variables } from './variables';

/** A use of a marked element in an operation; with `variable`, it counts only if that variable is given. */
export interface Use {
  readonly mark: Mark;
  readonly variable?: string;
}

/**
 * The deprecated and unstable elements that an operation uses. They are read from its document once, ignoring
 * `@skip` and `@include`; only the variables are examined in each run.
 */
export class Lifecycle {
  private readonly always: Notice | undefined;
  private readonly sometimes: readonly Use[];

  private constructor(
    readonly uses: readonly Use[],
    private readonly lookups: readonly Lookup[],
  ) {
    this.sometimes = uses.filter(({ variable }) => variable !== undefined);
    this.always = noticeOf(uses.filter((use) => !this.sometimes.includes(use)).map(({ mark }) => mark));
  }

  /** `undefined` if the operation, of a validated document, uses no such element with any variables. */
  static of(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): Lifecycle | undefined {
    const marks = marksOf(schema);
    if (!marks.size) return undefined;
    const own = separateOperations(document)[operation.name?.value ?? ''] ?? document;
    const uses = usesIn(schema, own, operation, marks);
    const lookups = (operation.variableDefinitions ?? []).flatMap(({ variable, type: node }) => {
      const type = typeFromAST(schema, node as TypeNode) as GraphQLInputType;
      return holdsMarks(type, marks) ? [{ name: variable.name.value, type, marks }] : [];
    });
    return uses.length || lookups.length ? new Lifecycle(uses, lookups) : undefined;
  }

  /** The notice for a run with these variables, as sent; `undefined` if it uses no marked element. */
  noticeFor(variables: Variables): Notice | undefined {
    const { sometimes, lookups, always } = this;
    if (!sometimes.length && !lookups.length) return always;
    const found = new Set(always?.marks);
    for (const { mark, variable = '' } of sometimes) {
      if (isGiven(variables, variable)) found.add(mark);
    }
    for (const { name, type, marks } of lookups) {
      if (isGiven(variables, name)) collectMarks(type, variables[name], marks, found);
    }
    return found.size === (always?.marks.length ?? 0) ? always : noticeOf([...found]);
  }
}

/** A variable whose value may contain marked elements. */
interface Lookup {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly marks: Marks;
}

function usesIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  marks: Marks,
): Use[] {
  const withDefault = new Set(
    operation.variableDefinitions?.flatMap(({ variable, defaultValue }) =>
      defaultValue ? [variable.name.value] : [],
    ),
  );
  const uses = new Map<string, Use>();
  const note = (element: unknown, value?: ValueNode) => {
    const mark = marks.get(element);
    if (!mark) return;
    const name = value?.kind === 'Variable' ? value.name.value : undefined;
    const variable = name !== undefined && !withDefault.has(name) ? name : undefined;
    uses.set(`${mark.coordinate} ${variable ?? ''}`, { mark, ...(variable && { variable }) });
  };
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    Field: () => note(types.getFieldDef()),
    Argument: ({ value }) => note(types.getArgument(), value),
    ObjectField: ({ name, value }) => {
      const parent = getNamedType(types.getParentInputType());
      if (isInputObjectType(parent)) note(parent.getFields()[name.value], value);
    },
    EnumValue: () => note(types.getEnumValue()),
  });
  visit(document, visitor);
  return [...uses.values()];
}

function isGiven(variables: Variables, name: string): boolean {
  return Object.hasOwn(variables, name) && variables[name] !== undefined;
}
