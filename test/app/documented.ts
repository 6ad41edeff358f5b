import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { command, PROJECT } from '../helper/command';

const run = promisify(execFile);

/** The pages of the documentation, relative to the project. */
export const PAGES = ['README.md', ...readdirSync(join(PROJECT, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

export const textOf = (page: string): string => readFileSync(join(PROJECT, page), 'utf8');

/** A page's code blocks with this info string, such as `sh` or `sh no-run`. */
export function blocksOf(page: string, language: string): string[] {
  const blocks = [...textOf(page).matchAll(/^```(.*)\n([\s\S]*?)^```/gm)];
  return blocks.filter(([, info]) => info === language).map(([, , code = '']) => code);
}

/** Commands of a page, and their output as the page shows it. */
export interface Step {
  readonly commands: string;
  /** The shown output, in which `…` stands for any text; empty if the page shows no output. */
  readonly output: string;
}

/** The commands in the `sh` blocks of a page, each with the output that the comments below it show. */
export function stepsOf(page: string): Step[] {
  return blocksOf(page, 'sh').flatMap((block) =>
    [...block.matchAll(/((?:^(?!#).*\n)+)((?:^#.*\n)*)/gm)]
      .map(([, commands = '', output = '']) => ({
        commands: commands.trim(),
        output: output.replace(/^# ?/gm, '').trim(),
      }))
      .filter(({ commands }) => commands),
  );
}

/** Matches texts that differ from run to run: keys, times and key ids, and `…`, which stands for any other text. */
const VARIES = /(…|ps_\w{12}_\w{32}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b(?=[a-z]*\d)[0-9a-z]{12}\b)/;

/** Runs the commands of a page against a test server, as a reader would. */
export class Reader {
  /** Texts of the page, each with the text that replaces it in this run. */
  private readonly here = new Map<string, string>();
  private exports = '';
  private readonly environment: NodeJS.ProcessEnv;

  constructor(url: string, adminKey: string) {
    const { host } = new URL(url);
    for (const documented of ['localhost:4000', '127.0.0.1:4000']) this.here.set(documented, host);
    this.here.set('ps_n2oeuxvrbt7c_EFLqI88w8DOTVOrczL9Dls8eJfllu1ll', adminKey);
    this.here.set('npm run --silent keys --', command('app/keys').join(' '));
    this.environment = { PETSTORE_URL: url, PETSTORE_API_KEY: adminKey, PATH: process.env.PATH };
  }

  /**
   * Runs the commands in bash.
   * @returns the documented output if the actual output matches it, otherwise the actual output. White space and texts
   *   that match {@link VARIES} may differ.
   * @throws Error if a command fails
   */
  async type({ commands, output }: Step): Promise<string> {
    // Longest texts first: a whole key must be replaced before its id, which is a part of the key.
    const longestFirst = [...this.here.keys()].sort((a, b) => b.length - a.length);
    const documented = new RegExp(longestFirst.map(literal).join('|'), 'g');
    const typed = commands.replace(documented, (found) => this.here.get(found) ?? found);
    for (const [line] of typed.matchAll(/^export .*$/gm)) this.exports += `${line}\n`;
    const script = `set -o pipefail\n${this.exports}${typed}`;
    const { stdout } = await run('bash', ['--norc', '-c', script], { env: this.environment });
    return !output || this.matches(output, stdout) ? output : stdout;
  }

  /** Whether the output matches the page. Remembers the actual values of varying texts for later commands. */
  private matches(shown: string, actual: string): boolean {
    const parts = shown.split(VARIES);
    const varying = parts.filter((_, index) => index % 2);
    const pattern = parts.map((part, index) => (index % 2 ? wildcard(part) : literal(part.replace(/\s/g, ''))));
    const match = new RegExp(`^${pattern.join('')}$`).exec(actual.replace(/\s/g, ''));
    for (const [index, part] of varying.entries())
      if (match && part !== '…') this.here.set(part, String(match[index + 1]));
    return match !== null;
  }
}

function wildcard(shown: string): string {
  return shown === '…' ? '(.*?)' : `([\\w:.-]{${shown.length}})`;
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
