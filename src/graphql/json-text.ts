/** A part of a response that the database has already serialized as JSON. */
export class JsonText {
  constructor(readonly text: string) {}

  /** For code that serializes the response with JSON.stringify. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

const NEEDS_NO_ESCAPE = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** A string as JSON.stringify serializes it; most need only quotes. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The bytes of a value as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string' && NEEDS_NO_ESCAPE.test(value)) return Buffer.byteLength(value) + 2;
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * A response as JSON.stringify serializes it, with the already serialized parts inserted unchanged. Its keys are
 * GraphQL names (section 2.1.9), which need no escaping.
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
