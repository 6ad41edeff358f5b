import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/**
 * The directory of the files for browsers. They are not compiled, so the compiled code in `dist` also reads them from `src`.
 */
const PUBLIC = join(__dirname, '..', '..', 'src', 'portal', 'public');
/** The directory of packages' browser builds, which `prisma/generate.mjs` copies here. */
const VENDOR = join(__dirname, '..', '..', 'src', 'portal', 'vendor');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.graphql': 'application/graphql; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** A file with everything that is needed to serve it. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** The ETag of a file that browsers must revalidate; `undefined` for files in `Assets` and for error pages. */
  readonly etag?: string;
  /** Returns the gzipped body. It is computed once, on first use. */
  gzipped(): Promise<Buffer>;
}

/**
 * The files that pages load. They are read once, at the start. Their path contains a hash of their content, so browsers may
 * cache them without ever revalidating them.
 */
export class Assets {
  private readonly files = new Map<string, Asset>();
  /** `/assets/3f9a…`, without a trailing slash. */
  readonly path: string;

  /** @throws Error if a file is missing. */
  constructor() {
    for (const name of readdirSync(PUBLIC)) this.files.set(name, read(join(PUBLIC, name)));
    for (const name of readdirSync(VENDOR)) this.files.set(`vendor/${name}`, read(join(VENDOR, name)));
    const hash = createHash('sha256');
    for (const [name, { body }] of this.files) hash.update(name).update(body);
    this.path = `/assets/${hash.digest('hex').slice(0, 16)}`;
  }

  /** The asset of this name, such as `vendor/react.js`; `undefined` if there is none. */
  find(name: string): Asset | undefined {
    return this.files.get(name);
  }
}

function read(file: string): Asset {
  return assetOf(TYPES[extname(file)] ?? 'application/octet-stream', readFileSync(file));
}

export function assetOf(type: string, body: Buffer, etag?: string): Asset {
  let gzipped: Promise<Buffer> | undefined;
  return { type, body, etag, gzipped: () => (gzipped ??= promisify(gzip)(body)) };
}
