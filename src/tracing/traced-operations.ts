import { SpanStatusCode, trace } from '@opentelemetry/api';
import { type DocumentNode, getOperationAST } from 'graphql';
import { AroundExecutor } from '../graphql/around-executor';
import type { Context } from '../graphql/context';
import type { Outcome } from '../graphql/outcome';
import type { Variables } from '../graphql/variables';

/** Maximum length of an operation's name, which the client chooses. */
const MAX_NAME = 100;

const tracer = trace.getTracer('petstore-gateway');

/**
 * A span around each GraphQL operation, including those behind REST (OpenTelemetry, semantic conventions for GraphQL
 * servers). Documents are left out: their literals may hold anything that a client sends.
 */
export class TracedOperations extends AroundExecutor {
  run(
    document: DocumentNode,
    operationName: string | null | undefined,
    variables: Variables,
    context: Context,
  ): Promise<Outcome> {
    const node = getOperationAST(document, operationName);
    const type = node?.operation ?? 'GraphQL operation';
    return tracer.startActiveSpan(type, async (span) => {
      if (node) span.setAttribute('graphql.operation.type', node.operation);
      if (node?.name) span.setAttribute('graphql.operation.name', node.name.value.slice(0, MAX_NAME));
      try {
        const outcome = await this.inner.run(document, operationName, variables, context);
        const [error] = outcome.body.errors ?? [];
        if (error) span.setAttribute('error.type', String(error.extensions?.code));
        if (outcome.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        return outcome;
      } finally {
        span.end();
      }
    });
  }
}
