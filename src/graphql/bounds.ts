// Input classes are loaded by services too, before the schema is.
import 'reflect-metadata';
import { Extensions } from 'type-graphql';
import { Checks, MAX_INT32, PAGE_SIZE, type Rule, SEARCH } from '../errors/inputs';

/**
 * Decorators that bound the values of a field. The check of inputs, `{bounds}` in the field's description, the estimated cost
 * of pages and the OpenAPI document follow from them.
 */

const RULES = new WeakMap<object, Record<string, Rule>>();

/** @param words what the description of the field says: `1 to 100`. */
function Bounded(rule: Rule, words?: string) {
  return (prototype: object, field: string): void => {
    const rules = RULES.get(prototype) ?? {};
    RULES.set(prototype, rules);
    // A field may have several decorators, which share one object.
    rules[field] = Object.assign(rules[field] ?? {}, rule);
    Extensions({ rule: rules[field], ...(words && { bounds: words }) })(prototype, field);
  };
}

/** A text of this many code points; surrounding white space is removed. @param min 0 or 1. */
export const Text = (min: 0 | 1, max: number) =>
  Bounded(
    { trimmed: true, ...(min && { minLength: min }), maxLength: max },
    min ? `${min} to ${max} characters` : `up to ${max} characters`,
  );

/** A text to search for. */
export const SearchText = () => Bounded(SEARCH);

/** An integer within these bounds. */
export const Range = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) =>
  Bounded({ minimum, maximum }, `${minimum} to ${maximum}`);

/** How many items a page may have. */
export const PageSize = () => Range(PAGE_SIZE);

/** A number of things, at least one. */
export const Quantity = () => Bounded({ minimum: 1, maximum: MAX_INT32 }, 'at least 1');

/** A number of things, or none. */
export const Count = () => Range({ minimum: 0, maximum: MAX_INT32 });

/** A field of an update that is omitted to keep its value, and cannot be null. */
export const NotNull = () => Bounded({ nullable: false });

/** The rules of an input type's fields; fields without one may have any value of their type. */
export function rulesOf({ prototype }: abstract new () => object): Readonly<Record<string, Rule>> {
  return RULES.get(prototype) ?? {};
}

/** @returns the input, with texts trimmed. @throws ProblemError `BAD_USER_INPUT` that names every field which breaks its rule. */
export function checkInput<Input extends object>(type: abstract new () => Input, input: Input): Input {
  const checks = new Checks();
  const checked = checks.input(rulesOf(type), input);
  checks.done();
  return checked;
}

/** A description with the field's bounds in place of `{bounds}`. @throws Error if it has none. */
export function withBounds(description: string, { bounds }: Readonly<Record<string, unknown>>): string {
  if (!description.includes('{bounds}')) return description;
  if (bounds === undefined) throw new Error(`A field has no bounds for its description: ${description}`);
  return description.replace('{bounds}', String(bounds));
}
