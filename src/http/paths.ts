/** Where GraphQL is served. */
export const GRAPHQL_PATH = '/graphql';
/** Where GraphQL is served over server-sent events. */
export const STREAM_PATH = '/graphql/stream';
