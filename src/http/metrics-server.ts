import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { Registry } from 'prom-client';
import type { Exposition } from './metrics';

export const METRICS_PATH = '/metrics';

/** Makes a separate HTTP server for `/metrics`. It requires no key, so only monitoring should be able to reach its port. */
export function metricsServer(metrics: Exposition): Server {
  return createServer((request, response) => {
    const isRight = request.url?.split('?', 1)[0] === METRICS_PATH && /^(GET|HEAD)$/.test(request.method ?? '');
    if (!isRight) return response.writeHead(404).end();
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

/** Serves metrics on a separate port; does nothing if `port` is `undefined`. @returns the URL of the metrics. */
export async function serveMetrics(
  metrics: Exposition,
  port: number | undefined,
  host: string,
): Promise<string | undefined> {
  if (port === undefined) return undefined;
  const server = metricsServer(metrics).listen(port, host);
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`cannot listen on METRICS_PORT: ${error.message}`);
  });
  return metricsUrl(host, (server.address() as AddressInfo).port);
}

export function metricsUrl(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}${METRICS_PATH}`;
}
