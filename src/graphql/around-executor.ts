import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Context } from './context';
import type { OperationRunner } from './executor';
import type { Outcome } from './outcome';
import type { Variables } from './variables';

/** What stands around an executor: it does something before and after each operation, and is used as the executor is. */
export abstract class AroundExecutor implements OperationRunner {
  constructor(protected readonly inner: OperationRunner) {}

  get schema(): GraphQLSchema {
    return this.inner.schema;
  }

  prepareForRest(document: DocumentNode): void {
    this.inner.prepareForRest(document);
  }

  abstract run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome>;
}
