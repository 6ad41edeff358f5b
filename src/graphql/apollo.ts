import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../errors/codes';
import { type Problem, problemOf } from '../errors/errors';
import type { OperationRequest } from './context';
import type { Executor } from './executor';
import { headersOf } from './idempotency';
import { type KnownDocuments, reworded } from './known-documents';
import { extensionsOf, type Outcome, refusal, refuseDocument } from './outcome';

/**
 * Apollo Server in front of the executor: it reads requests (POST, GET, automatic persisted queries, CSRF
 * prevention) and parses documents. It neither validates nor executes them: a document must be measured before
 * it is validated, and Apollo's pipeline has no step for that.
 */
export async function createApollo(
  executor: Executor,
  documents: KnownDocuments,
): Promise<ApolloServer<OperationRequest>> {
  const apollo = new ApolloServer<OperationRequest>({
    schema: executor.schema,
    introspection: true,
    parseOptions: { maxTokens: documents.limits.tokens },
    dangerouslyDisableValidation: true,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    // KnownDocuments is the cache; Apollo's would keep every document twice.
    documentStore: null,
    // If only trusted documents may run, clients cannot register any.
    persistedQueries: documents.onlyTrusted ? false : { cache: documents.persisted },
    stopOnTerminationSignals: false,
    stringifyResult: JSON.stringify,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    formatError: (formatted, error) => {
      const problem = refusalOf(error);
      const message = problem.code === 'GRAPHQL_PARSE_FAILED' ? reworded(problem.message) : problem.message;
      return { ...formatted, message, extensions: extensionsOf(problem) };
    },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      {
        // Apollo responds with an error of its own instead of this one.
        unexpectedErrorProcessingRequest: async ({ requestContext, error }) =>
          requestContext.contextValue.observer.onInternalError(error),
        requestDidStart: async () => ({
          responseForOperation: async ({ document, source, request, contextValue }) => {
            const { operationName, variables = {} } = request;
            const faults = documents.examine(source, document, contextValue.caller);
            const outcome: Outcome = faults.length
              ? refuseDocument(faults, contextValue)
              : await executor
                  .run(document, operationName, variables, contextValue)
                  // Apollo's own answer to an unexpected error would lack the request id.
                  .catch((error: unknown) => refusal(error, { request: contextValue }));
            const { status, body } = outcome;
            return {
              http: { status, headers: new HeaderMap(Object.entries(headersOf(outcome))) },
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

/** The codes for refusals that Apollo distinguishes only by HTTP status. */
const APOLLO_CODES: Readonly<Record<number, ErrorCode>> = {
  405: 'METHOD_NOT_ALLOWED',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

function refusalOf(error: unknown): Problem {
  const { internal: _, ...problem } = problemOf(error);
  const { status } = (error instanceof GraphQLError && (error.extensions.http as { status?: number })) || {};
  const code = APOLLO_CODES[status ?? 0];
  return code && status ? { ...problem, code, status } : problem;
}
