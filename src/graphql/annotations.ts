import { memoize1 } from '@graphql-tools/utils';
import {
  type GraphQLSchema,
  getDirectiveValues,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

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

/** Keyed by the schema's own objects: fields, arguments, input fields and enum values. */
export type Annotations = ReadonlyMap<unknown, Annotation>;

/**
 * All annotated elements of a schema.
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
  throw new Error(`The @sunset of ${coordinate} has the date ${JSON.stringify(text)}, not one such as 2027-11-01`);
}
