import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { Context } from './context';
import { limitDocument, MAX_TOKENS } from './document-limits';
import { problemOf } from './errors';
import type { Executor } from './executor';
import { idempotencyHeaders } from './idempotency-headers';
import type { KnownDocuments } from './known-documents';
import { extensionsOf } from './outcome';

/** How many faults of one document are reported. */
const MAX_ERRORS = 20;

/**
 * Apollo Server in front of the executor: it reads requests (POST, GET, automatic persisted queries, CSRF prevention),
 * parses and validates documents. It runs nothing itself.
 */
export async function createApollo(
  executor: Executor,
  documents: KnownDocuments,
): Promise<ApolloServer<Context>> {
  const apollo = new ApolloServer<Context>({
    schema: executor.schema,
    introspection: true,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [limitDocument],
    validationOptions: { maxErrors: MAX_ERRORS },
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    stringifyResult: JSON.stringify,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    formatError: (formatted, error) => {
      const { internal: _, ...problem } = problemOf(error);
      return { ...formatted, message: problem.message, extensions: extensionsOf(problem) };
    },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      {
        requestDidStart: async () => ({
          willSendResponse: async ({ contextValue: { requestId }, response: { body } }) => {
            if (body.kind !== 'single') return;
            for (const { extensions } of body.singleResult.errors ?? []) {
              if (extensions) extensions.requestId ??= requestId;
            }
          },
          responseForOperation: async ({ document, source, request, contextValue }) => {
            documents.add(source, document);
            const { operationName, variables = {} } = request;
            const outcome = await executor.run(document, operationName, variables, contextValue);
            const { status, body } = outcome;
            return {
              http: { status, headers: new HeaderMap(Object.entries(idempotencyHeaders(outcome))) },
              body: { kind: 'single', singleResult: body },
            };
          },
        }),
      },
    ],
  });
  await apollo.start();
  return apollo;
}
