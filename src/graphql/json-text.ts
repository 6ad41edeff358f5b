import { JsonText } from '../database/reading/selection';

const NEEDS_NO_ESCAPE = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** A string as JSON.stringify serializes it; most need only quotes. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The bytes of a value as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(quoted(value));
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof JsonText) return Buffer.byteLength(value.text);
  let bytes = 2;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item) + 1;
  else for (const key in value) bytes += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  return bytes;
}

/**
 * A response as JSON.stringify serializes it, with the unchanged JSON of the database. Its keys are GraphQL names (section
 * 2.1.9), which need no escaping.
 */
export function serialize(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`;
  let text = '';
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}"${key}":${serialize(member)}`;
  }
  return `{${text}}`;
}
