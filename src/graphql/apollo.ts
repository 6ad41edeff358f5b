import {
  ApolloServer,
  type ApolloServerPlugin,
  type GraphQLRequestContextResponseForOperation,
  type GraphQLRequestListener,
  HeaderMap,
} from '@apollo/server';
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
import { addArgumentPaths, type Documents, reworded } from './documents';
import type { Executor } from './executor';
import { headersOf } from './idempotency';
import { serialize } from './json-text';
import { extensionsOf, type Outcome, refusal, refuseDocument } from './outcome';

/**
 * Creates the Apollo Server for GraphQL operations over HTTP. It reads the request (POST, GET, persisted queries), prevents
 * CSRF, and parses, validates and caches the document. The {@link Executor} then executes the operation.
 * @param plugins additional plugins, called for every operation.
 */
export async function createApollo(
  executor: Executor,
  documents: Documents,
  plugins: readonly ApolloServerPlugin<OperationRequest>[] = [],
): Promise<ApolloServer<OperationRequest>> {
  const apollo = new ApolloServer<OperationRequest>({
    schema: executor.schema,
    introspection: true,
    parseOptions: documents.parseOptions,
    validationRules: documents.rules,
    validationOptions: documents.validationOptions,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    documentStore: documents.store,
    // If only trusted documents may run, clients cannot register persisted queries.
    persistedQueries: documents.onlyTrusted ? false : { cache: documents.persisted },
    stopOnTerminationSignals: false,
    stringifyResult: serialize,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    formatError: (formatted, error) => {
      const problem = problemFromApollo(error);
      return { ...formatted, message: reworded(problem.message), extensions: extensionsOf(problem) };
    },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      executionPlugin(executor, documents),
      ...plugins,
    ],
  });
  await apollo.start();
  return apollo;
}

/** Executes operations in place of Apollo Server, and formats their errors. */
function executionPlugin(executor: Executor, documents: Documents): ApolloServerPlugin<OperationRequest> {
  const run = async ({
    document,
    request,
    contextValue,
  }: GraphQLRequestContextResponseForOperation<OperationRequest>): Promise<Outcome> => {
    const refused = documents.refuse(document, contextValue.caller);
    if (refused) return refuseDocument([refused], contextValue);
    try {
      return await executor.run(document, request.operationName, request.variables ?? {}, contextValue);
    } catch (error) {
      // Apollo Server's own response to an unexpected error would lack the request id.
      return refusal(error, { request: contextValue });
    }
  };
  const listener: GraphQLRequestListener<OperationRequest> = {
    validationDidStart:
      async ({ document }) =>
      async (errors = []) =>
        addArgumentPaths(errors as readonly GraphQLError[], document),
    responseForOperation: async (operation) => {
      const outcome = await run(operation);
      return {
        http: { status: outcome.status, headers: new HeaderMap(Object.entries(headersOf(outcome))) },
        body: { kind: 'single', singleResult: outcome.body },
      };
    },
  };
  return {
    requestDidStart: async () => listener,
    // Apollo Server hides this error from the caller, so the observer must report it.
    unexpectedErrorProcessingRequest: async ({ requestContext, error }) =>
      requestContext.contextValue.observer.onInternalError(error),
  };
}

/** The codes of rejections that Apollo Server distinguishes only by HTTP status. */
const APOLLO_CODES: Readonly<Record<number, ErrorCode>> = {
  405: 'METHOD_NOT_ALLOWED',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

function problemFromApollo(error: unknown): Problem {
  const { internal: _, ...problem } = problemOf(error);
  const { status } = (error instanceof GraphQLError && (error.extensions.http as { status?: number })) || {};
  const code = APOLLO_CODES[status ?? 0];
  return code && status ? { ...problem, code, status } : problem;
}
