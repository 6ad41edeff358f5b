import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program to its end. @returns its standard output. @throws Error with all that it said if it fails. */
export function run(program: string, args: readonly string[]): Promise<string> {
  return endOf(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }), `${program} ${args.join(' ')}`);
}

/** Waits until a process ends. @returns and @throws as {@link run}. */
export async function endOf(child: ChildProcess, what: string): Promise<string> {
  let [stdout, all] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    all += text;
  });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}: ${all.slice(-2000)}`);
  return stdout;
}
