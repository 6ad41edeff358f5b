import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Context } from './context';
import type { OperationRunner } from './executor';
import type { Outcome } from './outcome';
import type { Variables } from './variables';

/** A decorator around an executor, with the same interface: it adds work before and after each operation. */
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
