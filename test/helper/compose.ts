import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PROJECT } from './command';

/** What tests read of compose.yaml. */
export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly configs: { readonly caddyfile: { readonly content: string } };
}

interface ComposeService {
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly command?: readonly string[];
  readonly stop_grace_period?: string;
}

/** Reads compose.yaml as Docker Compose does where no variable is set: `${ACCESS:-read}` is `read`. */
export function readCompose(): Compose {
  const text = readFileSync(join(PROJECT, 'compose.yaml'), 'utf8');
  return parse(text.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1'));
}
