import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './command';

/** `RUN npm ci` */
export interface Instruction {
  readonly name: string;
  /** What follows its name. */
  readonly text: string;
}

/** What one `FROM` begins. */
export interface Stage {
  readonly base: string;
  /** What follows its `AS`. */
  readonly name?: string;
  readonly instructions: Instruction[];
}

/** The stages of the Dockerfile, in order. @throws Error for what is not read here: lines that go on, and here-documents. */
export function readDockerfile(): Stage[] {
  const stages: Stage[] = [];
  for (const line of linesOf('Dockerfile')) {
    if (/\\$|<</.test(line)) throw new Error(`not read here: ${line}`);
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    const [base = '', , as] = text.split(' ');
    if (name === 'FROM') stages.push({ base, ...(as && { name: as }), instructions: [] });
    else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

/** The words of an instruction in its exec form: `CMD ["node", "dist/main.js"]`. */
export function execForm(text: string): string[] {
  return JSON.parse(text.replace(/^[^[]*/, ''));
}

/** Whether a path of the project is sent to the daemon: the last line of `.dockerignore` that has it, or a folder above it, decides. */
export function isInContext(path: string): boolean {
  let isLeftOut = false;
  for (const line of linesOf('.dockerignore')) {
    const pattern = line.replace(/^!/, '');
    if (/[*?[]/.test(pattern) && pattern !== '*') throw new Error(`not read here: ${line}`);
    if (pattern === '*' || `${path}/`.startsWith(`${pattern}/`)) isLeftOut = !line.startsWith('!');
  }
  return !isLeftOut;
}

function linesOf(file: string): string[] {
  return readFileSync(join(PROJECT, file), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
}
