import { MAX_INT32 } from '../integers';
import type { Column } from './table';

/** A boundary of a page: the order key and id of the row just outside it. */
export interface Bound {
  readonly key: string;
  readonly id: string;
}

/** The rows of an order between two bounds. */
export interface Range {
  readonly low?: Bound;
  readonly high?: Bound;
}

/** Smaller than every id: a bound with it is just before the first row of its key. */
const BEFORE_IDS = '0';

const MAX_CODE_POINT = 0x10ffff;
const [FIRST_SURROGATE, LAST_SURROGATE] = [0xd800, 0xdfff];

/** The integers up to `most`. */
export function upTo(most: number): Range {
  return most < MAX_INT32 ? { high: { key: String(most + 1), id: BEFORE_IDS } } : {};
}

/** The texts that begin with this one, in code point order. */
export function beginningWith(text: string): Range {
  const end = after([...text]);
  return { low: { key: text, id: BEFORE_IDS }, ...(end && { high: { key: end, id: BEFORE_IDS } }) };
}

/** The smallest text after all that begin with these characters; `undefined` if there is none. */
function after(characters: readonly string[]): string | undefined {
  const rest = characters.slice(0, -1);
  const last = characters.at(-1)?.codePointAt(0);
  if (last === undefined) return undefined;
  if (last === MAX_CODE_POINT) return after(rest);
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
  return rest.join('') + String.fromCodePoint(next);
}

/** Capitals that are not the upper case of their lower case: ẞ, Ω as the sign of ohm. There are none beyond U+2FFF. */
const OTHER_CAPITALS = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter((letter) => {
  const lower = letter.toLowerCase();
  return lower !== letter && lower.toUpperCase() !== letter;
});

/**
 * The forms of a text that differ only in the case of letters. They are Unicode's, whatever the database's collation;
 * one that takes more letters (ß, SS) is no form of the same letter.
 */
export function casesOf(text: string): string[] {
  return [...text].reduce<string[]>(
    (starts, letter) => {
      const lower = letter.toLowerCase();
      const others = OTHER_CAPITALS.filter((each) => each.toLowerCase() === lower);
      const forms = [letter, lower, letter.toUpperCase(), ...others].filter((form) => [...form].length === 1);
      return starts.flatMap((start) => [...new Set(forms)].map((form) => start + form));
    },
    [''],
  );
}

/** The part of a range between two bounds: its low bound is not below its high one if there is none. */
export function between({ low, high }: Range, from: Bound | undefined, to: Bound | undefined, column: Column): Range {
  const isBefore = (a: Bound, b: Bound) => compare(a, b, column) < 0;
  return {
    low: low && from && isBefore(low, from) ? from : (low ?? from),
    high: high && to && isBefore(to, high) ? to : (high ?? to),
  };
}

/** Compares bounds as the database orders a text (by code points, which is by bytes) or an integer, then the id. */
function compare(a: Bound, b: Bound, { kind }: Column): number {
  const keys =
    kind === 'text' ? Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) : Math.sign(Number(a.key) - Number(b.key));
  return keys || (BigInt(a.id) < BigInt(b.id) ? -1 : Number(a.id !== b.id));
}
