import { setImmediate as nextIteration } from 'node:timers/promises';
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
import { problemOf } from '../errors/errors';
import type { OperationRequest } from './context';
import { type Documents, hashOf, reworded } from './documents';
import type { Executor } from './executor';
import { headersOf } from './idempotency';
import { extensionsOf, type Outcome, rejectDocument, rejectOperation } from './outcome';
import { serialize } from './serialization';

/**
 * Creates the Apollo Server for GraphQL operations over HTTP. It reads the request, stores persisted queries, prevents CSRF,
 * and parses the document. The {@link Documents} then validate the document, and the {@link Executor} executes the operation.
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
    // `executionPlugin` validates documents, with the same rules as for WebSocket and event streams.
    dangerouslyDisableValidation: true,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    documentStore: documents.store,
    // If only trusted documents may run, clients cannot register persisted queries.
    persistedQueries: documents.onlyTrusted ? false : { cache: documents.persisted },
    stopOnTerminationSignals: false,
    stringifyResult: serialize,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    formatError: (formatted, error) => {
      const problem = problemOf(error);
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

/** Validates documents and executes operations instead of Apollo Server, and formats their errors. */
function executionPlugin(executor: Executor, documents: Documents): ApolloServerPlugin<OperationRequest> {
  type Resolved = GraphQLRequestContextResponseForOperation<OperationRequest>;
  const errorsOf = ({ document, queryHash, source }: Resolved) =>
    documents.validateAndAdd(document, queryHash ?? hashOf(source));
  const run = async (resolved: Resolved): Promise<Outcome> => {
    const { document, request, contextValue: operationRequest } = resolved;
    const errors = errorsOf(resolved);
    if (errors.length) return rejectDocument(errors, operationRequest);
    const rejection = documents.rejectionOf(document, operationRequest.caller);
    if (rejection) return rejectDocument([rejection], operationRequest);
    try {
      return await executor.run(document, request.operationName, request.variables ?? {}, operationRequest);
    } catch (error) {
      // Apollo Server's own response to an unexpected error would lack the request id.
      return rejectOperation(error, { operationRequest });
    }
  };
  const listener: GraphQLRequestListener<OperationRequest> = {
    // Validates the document before Apollo Server stores the text of a persisted query.
    didResolveOperation: async (resolved) => {
      const isLarge = documents.isLargeAndUnknown(resolved.source);
      errorsOf(resolved as Resolved);
      if (isLarge) await nextIteration();
    },
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
