/** What a value must keep beyond its type, in keywords of JSON Schema. */
export interface Rule {
  /** Whether null is refused, where a field keeps its value by being omitted. */
  readonly nullable?: false;
  /** Whether surrounding white space is removed before the text is measured and stored. */
  readonly trimmed?: true;
  /** In code points; only 0 and 1 occur. */
  readonly minLength?: number;
  /** In code points. A text also holds only what PostgreSQL and JSON can: no NUL, no lone surrogate. */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The rules of the fields of an input; fields without one may have any value of their type. */
export type Rules<Input> = { readonly [field in keyof Input]?: Rule };

export const MAX_INT32 = 2147483647;
export const MAX_INT64 = 9223372036854775807n;

export const NAME = { trimmed: true, minLength: 1, maxLength: 255 } satisfies Rule;
export const NAME_FILTER = { maxLength: 255 } satisfies Rule;
export const DESCRIPTION = { trimmed: true, maxLength: 2000 } satisfies Rule;
export const QUANTITY = { minimum: 1, maximum: MAX_INT32 } satisfies Rule;
export const COUNT = { minimum: 0, maximum: MAX_INT32 } satisfies Rule;
export const PAGE_SIZE = { minimum: 1, maximum: 100 } satisfies Rule;
export const NOT_NULL = { nullable: false } satisfies Rule;

/** Why a value of the right type breaks a rule, in the words for the caller; empty if it does not. */
export function faultsOf(rule: Rule, value: unknown): string[] {
  if (value === null && rule.nullable === false) return ['must not be null; omit it to keep the current value'];
  if (typeof value === 'string') return textFaults(rule, value);
  if (typeof value !== 'number') return [];
  const { minimum = -Infinity, maximum = Infinity } = rule;
  return value < minimum || value > maximum ? [integerRule(minimum, maximum)] : [];
}

function textFaults({ trimmed, minLength = 0, maxLength }: Rule, value: string): string[] {
  if (maxLength === undefined) return [];
  const text = trimmed ? value.trim() : value;
  const isTooLong = text.length > maxLength && codePoints(text) > maxLength;
  return [
    ...(text.includes('\0') ? ['must not contain the NUL character'] : []),
    ...(text.isWellFormed() ? [] : ['must not contain a lone surrogate']),
    ...(isTooLong ? [`must have at most ${maxLength} characters`] : []),
    ...(text === '' && minLength > 0 ? ['must not be empty'] : []),
  ];
}

/** The message for a number out of range. */
export function integerRule(minimum: number, maximum: number | bigint): string {
  return `must be an integer from ${minimum} to ${maximum}`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
