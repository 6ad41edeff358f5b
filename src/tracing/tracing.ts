import { subscribe } from 'node:diagnostics_channel';
import { context, DiagLogLevel, diag, SpanStatusCode, trace } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { reasonOf } from '../database/failures';
import type { Operation } from '../graphql/executor/operation';
import type { Outcome } from '../graphql/executor/outcome';
import { inTime } from '../rate-limit/in-time';

/** How long sending the remaining spans may take when the process ends. */
const FLUSH_MS = 2_000;
/** Paths that are polled. */
const NOT_TRACED = /^\/(livez|readyz|metrics)(\?|$)/;

/** Maximum length of an operation's name, which the client chooses. */
const MAX_NAME = 100;

const tracer = trace.getTracer('petstore-gateway');
let provider: NodeTracerProvider | undefined;

/**
 * Starts tracing requests (in the trace that their `traceparent` names), statements and Redis commands, and adds trace ids
 * to log lines. Must be called before anything loads `http`, `pg`, `ioredis` or `pino`, which are hooked into as they are
 * loaded. OpenTelemetry reads all other `OTEL_…` variables itself. No attribute holds a query string, a statement's
 * values, a command's arguments, or any header except `User-Agent` and those that say where the request came from.
 */
export function startTracing(serviceName: string): void {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': serviceName }))
    .merge(detectResources({ detectors: [envDetector] }));
  provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });
  provider.register();
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url = '' }) => NOT_TRACED.test(url),
        startIncomingSpanHook: () => ({ 'url.query': undefined }),
        requireParentforOutgoingSpans: true,
      }),
      new PgInstrumentation({
        requireParentSpan: true,
        ignoreConnectSpans: true,
        // Otherwise spans of prepared statements would be named after them, by a hash.
        requestHook: (span, { query: { text }, connection: { database } }) =>
          span.updateName(`${/\w+/.exec(text)?.[0].toUpperCase()} ${database}`),
      }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
      new PinoInstrumentation({ disableLogSending: true }),
    ],
  });
  subscribe('fastify.initialization', (message) => nameRoutes((message as { fastify: FastifyInstance }).fastify));
}

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

/** Logs traces that could not be sent. */
export function reportTo(logger: FastifyBaseLogger): void {
  const warn = (message: string) => logger.warn({ reason: message }, 'traces could not be sent');
  const silent = () => undefined;
  const target = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(target, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}

/** Sends the remaining spans. Never rejects. */
export async function stopTracing(): Promise<void> {
  if (provider) await inTime(provider.shutdown(), FLUSH_MS).catch((error) => diag.error(reasonOf(error)));
}

/** Sets the route of each request on its span: `/pets/{petId}`. */
function nameRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const metadata = getRPCMetadata(context.active());
    const { url } = request.routeOptions;
    if (metadata && url) metadata.route = url.replace(/:(\w+)\([^)]*\)/g, '{$1}');
    done();
  });
}
