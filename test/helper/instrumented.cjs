// With `node --import`: traces a process as @opentelemetry/auto-instrumentations-node/register does, with three of its
// instrumentations and without its 200 other packages.
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())] }).register();
registerInstrumentations({
  instrumentations: [new HttpInstrumentation(), new GraphQLInstrumentation(), new PgInstrumentation()],
});
