// Loaded with `node --import`. Traces a process like @opentelemetry/auto-instrumentations-node/register, but with only
// four instrumentations, so its 200 other packages are not needed. Writes a line for each span to the file TEST_SPANS:
// the trace id, and the SQL statement or Redis command. For other spans, the line has the name of the span instead.
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
