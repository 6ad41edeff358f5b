import { Scope } from '../database/generated/enums';
import type { Subject } from '../rate-limit/limit-status';
import { describedEnum } from './enums';

export { Scope };

/** The sender of a request: the identity whose requests are counted, and its scopes. */
export interface Caller extends Subject {
  readonly scopes: ReadonlySet<Scope>;
}

describedEnum(Scope, 'Scope', 'What a caller may do.', {
  READ: 'Queries and subscriptions.',
  WRITE: 'Mutations of the store, and everything that READ allows.',
  ADMIN: 'API keys and bans, and everything that WRITE allows.',
});
