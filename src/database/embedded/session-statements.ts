import { failureOf, leavesUnclear } from '../failures';
import { MOST_BYTES, MOST_CHARACTERS, memoryOf } from '../postgres/prepared-query';

/** A statement, and its unique name in the session. */
interface NamedStatement {
  readonly name: string;
  isPrepared: boolean;
}

/**
 * The names under which the session has prepared statements. Other statements use a name only after the server has confirmed
 * that it is prepared. The statement that prepares the name may fail or be dropped; statements that use the name would then
 * fail, too (26000). After an unknown error, it is unclear whether a statement is still valid. It is then prepared again, under
 * a new name.
 */
export class SessionStatements {
  private readonly known = new Map<string, NamedStatement>();
  private bytes = 0;
  /** The number of the last name. */
  last = 0;

  /** Whether all statements must be deallocated. */
  get isFull(): boolean {
    return this.bytes >= MOST_BYTES;
  }

  /** @returns `undefined` if the statement must be sent without a name. */
  take(name: string, text: string): NamedStatement | undefined {
    if (!name || text.length > MOST_CHARACTERS) return undefined;
    const known = this.known.get(name);
    if (known) return known.isPrepared ? known : undefined;
    const added = { name: `s${++this.last}`, isPrepared: false };
    this.known.set(name, added);
    this.bytes += memoryOf(text);
    return added;
  }

  /** Called with the outcome of a statement that was sent under a name. */
  note(name: string, sent: NamedStatement, error: unknown): void {
    if (!error) sent.isPrepared = true;
    else if (!sent.isPrepared || leavesUnclear(failureOf(error))) this.known.delete(name);
  }

  /** Forgets all statements. Later statements get new names, since earlier statements may still be in flight. */
  clear(): void {
    this.known.clear();
    this.bytes = 0;
  }
}
