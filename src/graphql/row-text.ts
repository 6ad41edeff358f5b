/** A part of an answer that the database has spelled as JSON. */
export class RowText {
  constructor(readonly text: string) {}

  /** For those who write the answer without knowing of it. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

const NEEDS_NO_ESCAPE = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** What JSON.stringify makes of a text; most need no more than quotes. */
export function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/**
 * What JSON.stringify makes of an answer, with the parts that are spelled already put in as they are. Its keys are names of
 * GraphQL (section 2.1.9), which need no escape.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof RowText) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  let text = '';
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}"${key}":${textOf(member)}`;
  }
  return `{${text}}`;
}
