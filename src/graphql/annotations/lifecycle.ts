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
import type { Variables } from '../executor/context';
import { collectAnnotations, holdsAnnotations } from './annotated-values';
import { type Annotation, type Annotations, annotationsOf } from './annotations';
import { type Notice, noticeOf } from './notice';

/** A use of an annotated element in an operation; with `variable`, it counts only if that variable is given. */
export interface Use {
  readonly annotation: Annotation;
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
    this.always = noticeOf(uses.filter((use) => !this.sometimes.includes(use)).map(({ annotation }) => annotation));
  }

  /** `undefined` if the operation, of a validated document, uses no such element with any variables. */
  static of(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Lifecycle | undefined {
    const annotations = annotationsOf(schema);
    if (!annotations.size) return undefined;
    const own = separateOperations(document)[operation.name?.value ?? ''] ?? document;
    const uses = usesIn(schema, own, operation, annotations);
    const lookups = (operation.variableDefinitions ?? []).flatMap(({ variable, type: node }) => {
      const type = typeFromAST(schema, node as TypeNode) as GraphQLInputType;
      return holdsAnnotations(type, annotations) ? [{ name: variable.name.value, type, annotations }] : [];
    });
    return uses.length || lookups.length ? new Lifecycle(uses, lookups) : undefined;
  }

  /** The notice for a run with these variables, as sent; `undefined` if it uses no annotated element. */
  noticeFor(variables: Variables): Notice | undefined {
    const { sometimes, lookups, always } = this;
    if (!sometimes.length && !lookups.length) return always;
    const found = new Set(always?.annotations);
    for (const { annotation, variable = '' } of sometimes) {
      if (isGiven(variables, variable)) found.add(annotation);
    }
    for (const { name, type, annotations } of lookups) {
      if (isGiven(variables, name)) collectAnnotations(type, variables[name], annotations, found);
    }
    return found.size === (always?.annotations.length ?? 0) ? always : noticeOf([...found]);
  }
}

/** A variable whose value may contain annotated elements. */
interface Lookup {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly annotations: Annotations;
}

function usesIn(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  annotations: Annotations,
): Use[] {
  const withDefault = new Set(
    operation.variableDefinitions?.flatMap(({ variable, defaultValue }) => (defaultValue ? [variable.name.value] : [])),
  );
  const uses = new Map<string, Use>();
  const note = (element: unknown, value?: ValueNode) => {
    const annotation = annotations.get(element);
    if (!annotation) return;
    const name = value?.kind === 'Variable' ? value.name.value : undefined;
    const variable = name !== undefined && !withDefault.has(name) ? name : undefined;
    uses.set(`${annotation.coordinate} ${variable ?? ''}`, { annotation, ...(variable && { variable }) });
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
