import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { PROJECT } from '../helper/command';

interface BrowserOptions {
  /** The files that replace packages. */
  readonly alias?: Record<string, string>;
  /** The values of `process.env`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A module may have `await` at its top level. */
  readonly format?: 'iife' | 'esm';
}

/** Bundles a module with the installed packages. */
export async function bundle(
  entry: string,
  platform: 'browser' | 'node' = 'browser',
  { alias = {}, environment = {}, format = 'iife' }: BrowserOptions = {},
): Promise<string> {
  const values = Object.entries({ NODE_ENV: 'production', ...environment });
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    jsx: 'automatic',
    platform,
    format: platform === 'browser' ? format : 'cjs',
    logLevel: 'silent',
    nodePaths: [join(PROJECT, 'node_modules')],
    alias,
    ...(platform === 'browser' && {
      // Relay refers to the global object by its name in Node.
      define: {
        global: 'window',
        ...Object.fromEntries(values.map(([name, value]) => [`process.env.${name}`, JSON.stringify(value)])),
      },
    }),
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
          .end(
            '<!doctype html><title>Page</title><div id="root"></div><script type="module" src="/script.js"></script>',
          );
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
