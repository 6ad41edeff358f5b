import { JsonText } from '../database/reading/json-text';

const NEEDS_NO_ESCAPE = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Serializes a string as JSON.stringify does. Most strings only need quotes. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The size of a value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(quoted(value));
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (value instanceof JsonText) return Buffer.byteLength(value.text);
  // Each member is followed by a comma or by the closing bracket.
  let bytes = 1;
  if (Array.isArray(value)) for (const item of value) bytes += sizeOf(item) + 1;
  else for (const key in value) bytes += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  return Math.max(bytes, 2);
}

/**
 * Serializes a response as JSON.stringify does, and copies JSON from the database unchanged. The keys are names (GraphQL,
 * section 2.1.9), so they need no escaping.
 */
export function serialize(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof JsonText) return value.text;
  let text = '';
  // Appending copies no text until the whole response is sent, unlike `join`.
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${serialize(item)}`;
    return `[${text}]`;
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}"${key}":${serialize(member)}`;
  }
  return `{${text}}`;
}
