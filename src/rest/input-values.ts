import { isLosslessNumber } from 'lossless-json';

const INT = /^-?(0|[1-9][0-9]{0,9})$/;
const INTEGER = /^[1-9][0-9]{0,18}$/;

const FROM_TEXT: Readonly<Record<string, (text: string) => unknown>> = {
  ID: (text) => (INTEGER.test(text) ? text : Number.NaN),
  Int: (text) => (INT.test(text) ? Number(text) : text),
  Boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** The value of a text from the URL, or of each of several; an invalid text becomes a value that the type rejects. */
export function readText(type: string, raw: unknown): unknown {
  const convert = FROM_TEXT[type];
  if (!convert) return raw;
  return Array.isArray(raw) ? raw.map(convert) : convert(String(raw));
}

/**
 * The value of a field of a JSON body. Identifiers are JSON integers without fraction or exponent: anything else,
 * including strings of digits, becomes a value that the type rejects.
 */
export function readJson(type: string, raw: unknown): unknown {
  if (type !== 'ID') return isLosslessNumber(raw) ? Number(raw.value) : raw;
  if (isLosslessNumber(raw)) return INTEGER.test(raw.value) ? BigInt(raw.value) : Number.NaN;
  return typeof raw === 'number' ? raw : Number.NaN;
}
