import { type GraphQLInputType, getNamedType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql';
import type { Annotation, Annotations } from './annotations';

/** Whether a value of this type can contain an annotated element. */
export function holdsAnnotations(type: GraphQLInputType, annotations: Annotations, seen = new Set<unknown>()): boolean {
  const named = getNamedType(type);
  if (seen.has(named)) return false;
  seen.add(named);
  if (isEnumType(named)) return named.getValues().some((value) => annotations.has(value));
  if (!isInputObjectType(named)) return false;
  return Object.values(named.getFields()).some(
    (field) => annotations.has(field) || holdsAnnotations(field.type, annotations, seen),
  );
}

/** Adds the annotations of a variable's value to `found`. @param value as sent: it may be anything. */
export function collectAnnotations(
  type: GraphQLInputType,
  value: unknown,
  annotations: Annotations,
  found: Set<Annotation>,
): void {
  const note = (element: unknown) => {
    const annotation = annotations.get(element);
    if (annotation) found.add(annotation);
  };
  if (value === null || value === undefined) return;
  if (isNonNullType(type)) {
    collectAnnotations(type.ofType, value, annotations, found);
  } else if (isListType(type)) {
    for (const item of Array.isArray(value) ? value : [value])
      collectAnnotations(type.ofType, item, annotations, found);
  } else if (isEnumType(type)) {
    if (typeof value === 'string') note(type.getValue(value));
  } else if (isInputObjectType(type) && typeof value === 'object') {
    for (const [name, field] of Object.entries(type.getFields())) {
      if (!Object.hasOwn(value, name)) continue;
      note(field);
      collectAnnotations(field.type, (value as Record<string, unknown>)[name], annotations, found);
    }
  }
}
