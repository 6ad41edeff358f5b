// With `node --import`: traces a process as @opentelemetry/auto-instrumentations-node/register does, with three of its
// instrumentations and without its 200 other packages. Each span's trace and name become a line of the file TEST_SPANS.
const { appendFileSync } = require('node:fs');
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

const exporter = {
  export(spans, done) {
    for (const span of spans) appendFileSync(process.env.TEST_SPANS, `${span.spanContext().traceId} ${span.name}\n`);
    done({ code: 0 });
  },
  shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
for (const Instrumentation of [HttpInstrumentation, GraphQLInstrumentation, PgInstrumentation]) new Instrumentation();
