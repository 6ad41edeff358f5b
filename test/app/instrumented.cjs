// With `node --import`: traces a process as @opentelemetry/auto-instrumentations-node/register does, with four of its
// instrumentations and without its 200 other packages. Each span becomes a line of the file TEST_SPANS: its trace, and its
// statement or command, or otherwise its name.
const { appendFileSync } = require('node:fs');
const { GraphQLInstrumentation } = require('@opentelemetry/instrumentation-graphql');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { IORedisInstrumentation } = require('@opentelemetry/instrumentation-ioredis');
const { PgInstrumentation } = require('@opentelemetry/instrumentation-pg');
const { NodeTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-node');

const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const what = span.attributes['db.query.text'] ?? span.name;
      appendFileSync(process.env.TEST_SPANS, `${span.spanContext().traceId} ${what}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
for (const Instrumentation of [HttpInstrumentation, GraphQLInstrumentation, PgInstrumentation, IORedisInstrumentation])
  new Instrumentation();
