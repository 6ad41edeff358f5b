/** A variable of an environment file, and the number of its line. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

/** The error for an invalid or ambiguous line of an environment file. The message never contains a value. */
export class EnvFileError extends Error {
  constructor(line: number, message: string) {
    super(`.env, line ${line}: ${message}`);
  }
}

const LINE_END = /\r\n|[\n\r\u0085\u2028\u2029]/;
const ASSIGNMENT = /^(?:export\s+)?([^=]*?)\s*=(.*)$/s;

/**
 * Parses an environment file like `parseEnv` of Node.js, but strictly, and in the same way on all versions of Node.js. Lines
 * that other parsers read differently are errors, since Compose reads the same file.
 * @param isSetting whether a name is a setting. If a quoted value has a line that sets a setting, the closing quote is missing.
 * @throws EnvFileError
 */
export function parseEnvFile(text: string, isSetting: (name: string) => boolean): Variable[] {
  const lines = text.split(LINE_END);
  const variables: Variable[] = [];
  for (let index = 0; index < lines.length; index++) {
    const source = lines[index]?.trimStart() ?? '';
    if (source === '' || source.startsWith('#')) continue;
    const line = index + 1;
    const [, name = '', rest = ''] = ASSIGNMENT.exec(source) ?? [];
    checkCharacters(source, line);
    if (!source.includes('='))
      throw new EnvFileError(line, 'it has no "=". Write NAME=value. A comment must start with "#".');
    if (!/^[\w.-]+$/.test(name))
      throw new EnvFileError(line, 'it has no valid name before "=". Write NAME=value. A comment must start with "#".');
    if (!/^\s*["'`]/.test(rest)) {
      variables.push({ name, value: unquoted(rest, line), line });
      continue;
    }
    const { value, last } = quoted(rest.trimStart(), lines, index, isSetting);
    variables.push({ name, value, line });
    index = last;
  }
  return variables;
}

function checkCharacters(text: string, line: number): void {
  if (text.includes('\0')) throw new EnvFileError(line, 'it contains a NUL byte. Save the file as UTF-8.');
  if (text.includes('\ufffd')) throw new EnvFileError(line, 'it is not valid UTF-8. Save the file as UTF-8.');
}

/** Node.js ends a value at any `#`, Compose only at a `#` after a blank. */
function unquoted(text: string, line: number): string {
  const hash = text.indexOf('#');
  if (hash === -1) return text.trim();
  if (/\s/.test(text.charAt(hash - 1))) return text.slice(0, hash).trim();
  throw new EnvFileError(
    line,
    'its value contains "#". Put the value in quotes, or put a blank before "#" if a comment begins there.',
  );
}

/**
 * Reads a quoted value, which may have several lines.
 * @param start the text from the opening quote to the end of its line. @param index the index of this line.
 * @returns the value, and the index of its last line.
 */
function quoted(start: string, lines: readonly string[], index: number, isSetting: (name: string) => boolean) {
  const quote = start.charAt(0);
  let text = start.slice(1);
  let last = index;
  while (!text.includes(quote)) {
    last++;
    const next = lines[last];
    const name = ASSIGNMENT.exec(next?.trimStart() ?? '')?.[1];
    if (next === undefined || (name !== undefined && isSetting(name)))
      throw new EnvFileError(index + 1, `its value has no closing ${quote}. Add it at the end of the value.`);
    checkCharacters(next, last + 1);
    text += `\n${next}`;
  }
  const end = text.indexOf(quote);
  if (!/^\s*(#|$)/.test(text.slice(end + 1)))
    throw new EnvFileError(
      last + 1,
      `text follows the closing ${quote}. Remove it, or use other quotes around the value.`,
    );
  const value = text.slice(0, end);
  return { value: quote === '"' ? value.replaceAll('\\n', '\n') : value, last };
}
