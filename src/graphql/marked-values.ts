import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { Mark, Marks } from './marks';

/** Whether a value of this type can contain a marked element. */
export function holdsMarks(type: GraphQLInputType, marks: Marks, seen = new Set<unknown>()): boolean {
  const named = getNamedType(type);
  if (seen.has(named)) return false;
  seen.add(named);
  if (isEnumType(named)) return named.getValues().some((value) => marks.has(value));
  if (!isInputObjectType(named)) return false;
  return Object.values(named.getFields()).some(
    (field) => marks.has(field) || holdsMarks(field.type, marks, seen),
  );
}

/** Adds the marks of a variable's value to `found`. @param value as sent: it may be anything. */
export function collectMarks(type: GraphQLInputType, value: unknown, marks: Marks, found: Set<Mark>): void {
  const note = (element: unknown) => {
    const mark = marks.get(element);
    if (mark) found.add(mark);
  };
  if (value === null || value === undefined) return;
  if (isNonNullType(type)) {
    collectMarks(type.ofType, value, marks, found);
  } else if (isListType(type)) {
    for (const item of Array.isArray(value) ? value : [value]) collectMarks(type.ofType, item, marks, found);
  } else if (isEnumType(type)) {
    if (typeof value === 'string') note(type.getValue(value));
  } else if (isInputObjectType(type) && typeof value === 'object') {
    for (const [name, field] of Object.entries(type.getFields())) {
      if (!Object.hasOwn(value, name)) continue;
      note(field);
      collectMarks(field.type, (value as Record<string, unknown>)[name], marks, found);
    }
  }
}
