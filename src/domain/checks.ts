import { badInput, type ErrorDetail } from './domain-error';

export const MAX_NAME = 255;
export const MAX_DESCRIPTION = 2000;
export const MAX_QUANTITY = 2147483647;

/** Collects all problems of an input, so that the caller gets them in one response. */
export class Checks {
  private readonly details: ErrorDetail[] = [];

  /** Checks a name: 1 to 255 code points once trimmed. @returns the trimmed name. */
  name(path: string, value: string): string {
    const name = this.text(path, value.trim(), MAX_NAME);
    if (name === '') this.fail(path, 'must not be empty');
    return name;
  }

  /** Checks a text: at most `max` code points that PostgreSQL and JSON can hold (no NUL, no lone surrogate). */
  text(path: string, value: string, max: number): string {
    if (value.includes('\0')) this.fail(path, 'must not contain the NUL character');
    if (!value.isWellFormed()) this.fail(path, 'must not contain a lone surrogate');
    if (value.length > max && codePoints(value) > max) this.fail(path, `must have at most ${max} characters`);
    return value;
  }

  integer(path: string, value: number, min: number, max: number): number {
    if (value < min || value > max) this.fail(path, integerRule(min, max));
    return value;
  }

  /** Rejects an explicit null where a field is only left unchanged by omitting it. */
  notNull(path: string, value: unknown): void {
    if (value === null) this.fail(path, 'must not be null; omit it to keep the current value');
  }

  fail(path: string, message: string): void {
    this.details.push({ path, message });
  }

  /** @throws DomainError `BAD_USER_INPUT` with everything that failed. */
  done(): void {
    if (this.details.length) throw badInput(...this.details);
  }
}

/** The message for a number out of range. */
export function integerRule(min: number, max: number): string {
  return `must be an integer from ${min} to ${max}`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
