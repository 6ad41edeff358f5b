import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from '../helper/command';

/** Bundles a module with the installed packages. */
export async function bundle(entry: string, platform: 'browser' | 'node' = 'browser'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    jsx: 'automatic',
    platform,
    logLevel: 'silent',
    nodePaths: [join(PROJECT, 'node_modules')],
    // Relay refers to the global object by its name in Node.
    ...(platform === 'browser' && { define: { global: 'window' } }),
  });
  return outputFiles[0]?.text ?? '';
}

/** A page of another origin than the gateway. */
export class PageServer {
  private constructor(private readonly server: Server) {}

  /** @param script the script of the page. @param others answers requests for other paths. */
  static async start(script: string, others?: RequestListener): Promise<PageServer> {
    const server = createServer((request, response) => {
      if (request.url === '/script.js') return response.setHeader('content-type', 'text/javascript').end(script);
      if (request.url === '/' || !others)
        return response
          .setHeader('content-type', 'text/html')
          .end('<!doctype html><title>Page</title><div id="root"></div><script src="/script.js"></script>');
      return others(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PageServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
