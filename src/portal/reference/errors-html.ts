import { ERRORS, type ErrorCode, isErrorCode } from '../../errors/error-codes';
import { helpOf } from '../../errors/help';

/** Where an error code is described; `undefined` for other texts. */
export function describedError(code: string): string | undefined {
  return isErrorCode(code) ? helpOf(code) : undefined;
}

/** Codes with their statuses, each a link to its description. */
export function errorList(codes: readonly ErrorCode[]): string {
  const item = (code: ErrorCode) =>
    `<li><a href="${helpOf(code)}"><span class="status-code">${ERRORS[code].status}</span> <code>${code}</code></a></li>`;
  return `<ul class="codes">${codes.map(item).join('')}</ul>`;
}
