/** Options of graphql-ws. By default, it gives up when it cannot reach the server, for example during a restart. */
export const reconnection = {
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: (event: unknown) => (event as CloseEvent).code !== 4403, // a wrong key
  retryWait: async (retries: number) => {
    const seconds = Math.min(2 ** retries, 30) * (0.5 + Math.random());
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  },
};
