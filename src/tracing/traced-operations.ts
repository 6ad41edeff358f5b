import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { Operation } from '../graphql/execution/operation';
import type { Outcome } from '../graphql/execution/outcome';

/** Maximum length of an operation's name, which the client chooses. */
const MAX_NAME = 100;

const tracer = trace.getTracer('petstore-gateway');

/**
 * A span around each GraphQL operation, including those behind REST (OpenTelemetry, semantic conventions for GraphQL
 * servers). Documents are left out: their literals may hold anything that a client sends.
 */
export function traceOperation(operation: Operation | undefined, run: () => Promise<Outcome>): Promise<Outcome> {
  return tracer.startActiveSpan(operation?.kind ?? 'GraphQL operation', async (span) => {
    if (operation) span.setAttribute('graphql.operation.type', operation.kind);
    if (operation?.name) span.setAttribute('graphql.operation.name', operation.name.slice(0, MAX_NAME));
    try {
      const outcome = await run();
      const [error] = outcome.body.errors ?? [];
      if (error) span.setAttribute('error.type', String(error.extensions?.code));
      if (outcome.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      return outcome;
    } finally {
      span.end();
    }
  });
}
