import type { Catalogue } from '../../errors/codes';
import { helpOf } from '../../errors/errors';

/** Where an error code is described; `undefined` for other texts. */
export function describedError(catalogue: Catalogue, code: string): string | undefined {
  return catalogue.has(code) ? helpOf(code) : undefined;
}

/** Codes with their statuses, each a link to its description. */
export function errorList(catalogue: Catalogue, codes: readonly string[]): string {
  const item = (code: string) =>
    `<li><a href="${helpOf(code)}"><span class="status-code">${catalogue.get(code)?.status}</span> <code>${code}</code></a></li>`;
  return `<ul class="codes">${codes.map(item).join('')}</ul>`;
}
