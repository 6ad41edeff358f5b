import { memoize1 } from '@graphql-tools/utils';
import {
  type DocumentNode,
  type GraphQLSchema,
  getDirectiveValues,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Api } from './context';

export type StabilityLevel = 'experimental' | 'beta';

/** The deprecation and stability of one schema element. */
export interface Annotation {
  /** A schema coordinate (GraphQL, draft): `Pet.name`, `Query.pets(first:)`, `PetFilter.name`, `PetStatus.sold`. */
  readonly coordinate: string;
  readonly stability?: StabilityLevel;
  readonly deprecation?: Deprecation;
}

export interface Deprecation {
  readonly reason: string;
  readonly since?: Date;
  readonly sunset?: Date;
  /** The coordinate of the replacement. */
  readonly replacement?: string;
}

/** Annotations by schema object: a field, an argument, an input field or an enum value. */
export type Annotations = ReadonlyMap<unknown, Annotation>;

/**
 * The annotations of all elements of a schema.
 * @throws Error for an invalid date, and for a `@sunset` on an element that is not deprecated.
 */
export const annotationsOf = memoize1((schema: GraphQLSchema): Annotations => {
  const annotations = new Map<unknown, Annotation>();
  const add = (element: Element, coordinate: string) => {
    const annotation = annotationOf(schema, element, coordinate);
    if (annotation) annotations.set(element, annotation);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isEnumType(type)) for (const value of type.getValues()) add(value, `${type.name}.${value.name}`);
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      add(field, `${type.name}.${field.name}`);
      for (const argument of 'args' in field ? field.args : [])
        add(argument, `${type.name}.${field.name}(${argument.name}:)`);
    }
  }
  return annotations;
});

interface Element {
  readonly astNode?: Parameters<typeof getDirectiveValues>[1] | null;
  readonly deprecationReason?: string | null;
}

function annotationOf(schema: GraphQLSchema, element: Element, coordinate: string): Annotation | undefined {
  const { astNode, deprecationReason } = element;
  const values = (name: string): Record<string, unknown> | undefined => {
    const directive = schema.getDirective(name);
    return directive && astNode ? getDirectiveValues(directive, astNode) : undefined;
  };
  const reason = deprecationReason ?? (values('deprecated')?.reason as string | undefined);
  const stability = values('stability')?.level as string | undefined;
  const dates = values('sunset');
  if (dates && reason === undefined) throw new Error(`${coordinate} has a @sunset, but is not deprecated`);
  if (reason === undefined && !stability) return undefined;
  const since = dateOf(dates?.since, coordinate);
  const sunset = dateOf(dates?.on, coordinate);
  const replacement = dates?.replacement as string | undefined;
  return {
    coordinate,
    stability: stability?.toLowerCase() as StabilityLevel | undefined,
    deprecation: reason === undefined ? undefined : { reason, since, sunset, replacement },
  };
}

function dateOf(text: unknown, coordinate: string): Date | undefined {
  if (text === undefined || text === null) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  if (!Number.isNaN(date.getTime())) return date;
  throw new Error(`The @sunset of ${coordinate} has the date ${JSON.stringify(text)}; a date has the form 2027-11-01`);
}

/** The headers and extensions that warn a client about the deprecated and unstable elements that the client uses. */
export interface Notice {
  readonly annotations: readonly Annotation[];
  readonly headers: Readonly<Record<string, string>>;
  /** The response's `extensions`; absent if nothing is deprecated. Dates have no time: `2027-11-01`. */
  readonly extensions?: { readonly deprecations: readonly object[] };
}

/**
 * Creates the notice about the deprecated and unstable fields and arguments in an operation of a validated document. It also
 * covers fields that `@skip` or `@include` exclude.
 * @returns `undefined` if there are no such fields and arguments.
 */
export function noticeFor(
  schema: GraphQLSchema,
  document: DocumentNode,
  { name }: OperationDefinitionNode,
): Notice | undefined {
  const annotations = annotationsOf(schema);
  const found = new Set<Annotation>();
  const note = (element: unknown) => {
    const annotation = annotations.get(element);
    if (annotation) found.add(annotation);
  };
  const types = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(types, {
    Field: () => note(types.getFieldDef()),
    Argument: () => note(types.getArgument()),
  });
  visit(separateOperations(document)[name?.value ?? ''] ?? document, visitor);
  return noticeOf([...found]);
}

/** The link to the guide that explains the dates. The replacements are in `extensions.deprecations`. */
const DEPRECATION_LINK = '</docs/deprecation>; rel="deprecation"; type="text/html"';

/** Combines annotations: the headers have the earliest dates and the least stable level. */
function noticeOf(annotations: readonly Annotation[]): Notice | undefined {
  if (!annotations.length) return undefined;
  const deprecated = annotations.flatMap(({ coordinate, deprecation }) =>
    deprecation ? [{ coordinate, ...deprecation }] : [],
  );
  const levels = annotations.map(({ stability }) => stability);
  const level = levels.includes('experimental') ? 'experimental' : levels.find(Boolean);
  return {
    annotations,
    headers: {
      ...(level && { 'x-stability': level }),
      ...dateHeaders(earliest(deprecated.map(({ since }) => since)), earliest(deprecated.map(({ sunset }) => sunset))),
      ...(deprecated.length > 0 && { link: DEPRECATION_LINK }),
    },
    ...(deprecated.length > 0 && {
      extensions: {
        deprecations: deprecated.map(({ since, sunset, ...other }) => ({
          ...other,
          since: since && dayOf(since),
          sunset: sunset && dayOf(sunset),
        })),
      },
    }),
  };
}

/** The `Deprecation` and `Sunset` headers. */
export function dateHeaders(since: Date | undefined, sunset: Date | undefined): Record<string, string> {
  return {
    ...(since && { deprecation: `@${since.getTime() / 1000}` }), // RFC 9745, section 2.1
    ...(sunset && { sunset: sunset.toUTCString() }), // RFC 8594, section 3
  };
}

function earliest(dates: readonly (Date | undefined)[]): Date | undefined {
  const times = dates.flatMap((date) => date?.getTime() ?? []);
  return times.length ? new Date(Math.min(...times)) : undefined;
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** How often an annotated element was used through one interface, GraphQL or REST. */
export interface CountedUse {
  /** A schema coordinate, or the method and path of a REST operation. */
  readonly element: string;
  readonly marker: 'deprecated' | 'experimental' | 'beta';
  readonly interface: Api['name'];
  times: number;
}

/**
 * Counts the uses of annotated elements since the process started. The schema and the REST operations bound the number of
 * counters.
 */
export class Uses {
  private readonly known = new Map<string, CountedUse>();

  count(element: string, marker: CountedUse['marker'], api: Api['name']): void {
    const key = `${api} ${marker} ${element}`;
    const known = this.known.get(key);
    if (known) known.times++;
    else this.known.set(key, { element, marker, interface: api, times: 1 });
  }

  countAll(annotations: readonly Annotation[], api: Api['name']): void {
    for (const { coordinate, stability, deprecation } of annotations) {
      if (deprecation) this.count(coordinate, 'deprecated', api);
      if (stability) this.count(coordinate, stability, api);
    }
  }

  *[Symbol.iterator](): Iterator<CountedUse> {
    yield* this.known.values();
  }
}
