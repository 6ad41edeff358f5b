import {
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { deprecationLink } from '../errors/errors';
import { type Annotation, annotationsOf } from './annotations';

/** What a client is told about the deprecated and unstable elements that it uses. */
export interface Notice {
  readonly annotations: readonly Annotation[];
  readonly headers: Readonly<Record<string, string>>;
  /** The response's `extensions`; absent if nothing is deprecated. Dates have no time: `2027-11-01`. */
  readonly extensions?: { readonly deprecations: readonly object[] };
}

/**
 * The notice about the fields and arguments that an operation of a validated document names, ignoring `@skip` and
 * `@include`; `undefined` if none is deprecated or unstable.
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

/** Headers combine the annotations: the earliest dates, the least stable level. */
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
      ...(deprecated.length > 0 && { link: deprecationLink(deprecated) }),
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
