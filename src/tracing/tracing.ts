import { subscribe } from 'node:diagnostics_channel';
import { context, DiagLogLevel, diag } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { reasonOf } from '../database/failures';
import type { OperationRunner } from '../graphql/executor';
import { inTime } from '../rate-limit/in-time';
import { TracedOperations } from './traced-operations';

/** How long what is left may take to be sent when the process ends. */
const FLUSH_MS = 2_000;
/** What is asked again and again, by machines. */
const NOT_TRACED = /^\/(livez|readyz|metrics)(\?|$)/;

let provider: NodeTracerProvider | undefined;

/**
 * Traces what comes after: requests (with the trace that their `traceparent` names), statements, Redis commands; and puts
 * the id of the trace into log lines. To be called before anything loads `http`, `pg`, `ioredis` or `pino`, which are hooked
 * into as they are loaded. OpenTelemetry reads all further `OTEL_…` variables itself. No attribute holds a query string, a
 * value of a statement, an argument of a command, or of the headers more than `User-Agent` and where the request came from.
 */
export function startTracing(serviceName: string): void {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': serviceName }))
    .merge(detectResources({ detectors: [envDetector] }));
  provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
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
        // Prepared statements would be called by their names, which are hashes.
        requestHook: (span, { query: { text }, connection: { database } }) =>
          span.updateName(`${/\w+/.exec(text)?.[0].toUpperCase()} ${database}`),
      }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
      new PinoInstrumentation({ disableLogSending: true }),
    ],
  });
  subscribe('fastify.initialization', (message) =>
    nameRoutes((message as { fastify: FastifyInstance }).fastify),
  );
}

/** What `runner` runs, each operation in a span of its own. */
export function traced(runner: OperationRunner): OperationRunner {
  return new TracedOperations(runner);
}

/** Lets the log hear of traces that could not be sent. */
export function reportTo(logger: FastifyBaseLogger): void {
  const warn = (message: string) => logger.warn({ reason: message }, 'traces could not be sent');
  const silent = () => undefined;
  const target = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(target, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}

/** Sends what is left. Never rejects. */
export async function stopTracing(): Promise<void> {
  if (provider) await inTime(provider.shutdown(), FLUSH_MS).catch((error) => diag.error(reasonOf(error)));
}

/** Tells the span of each request which route it took: `/pets/{petId}`. */
function nameRoutes(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const metadata = getRPCMetadata(context.active());
    const { url } = request.routeOptions;
    if (metadata && url) metadata.route = url.replace(/:(\w+)\([^)]*\)/g, '{$1}');
    done();
  });
}
