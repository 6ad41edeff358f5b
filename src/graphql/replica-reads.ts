import { type DocumentNode, getOperationAST } from 'graphql';
import type { RecentWriters } from '../access/recent-writers';
import type { Replicas } from '../database/replicas';
import { AroundExecutor } from './around-executor';
import type { Context } from './context';
import type { OperationRunner } from './executor';
import type { Outcome } from './outcome';
import type { Variables } from './variables';

/**
 * Lets queries read from replicas, while every caller still sees its own writes. A replica lags by less than
 * one window, and a caller reads from the primary for one window after its last write, so any change that a
 * replica lacks is newer than the caller's own. Everything but queries stays on the primary.
 */
export class ReplicaReads extends AroundExecutor {
  /** @param writers remembers writers for as long as a replica may lag. */
  constructor(
    inner: OperationRunner,
    private readonly replicas: Replicas,
    private readonly writers: RecentWriters,
  ) {
    super(inner);
  }

  async run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome> {
    const { id } = context.caller;
    const kind = getOperationAST(document, operationName)?.operation;
    if (kind === 'query') context.session = this.replicas.session(this.writers.has(id));
    const outcome = await this.inner.run(document, operationName, variables, context);
    if (kind === 'mutation') await this.writers.note(id);
    return outcome;
  }
}
