import { Assets } from './assets';
import { OWN, type Page, type Policy, pageHeaders } from './page';

/** GraphiQL's fonts are in its style sheet. */
const GRAPHIQL: Policy = { ...OWN, 'font-src': ['data:'] };

/** Sandbox is a script and a frame from Apollo; its requests are sent by our page, to this server. */
const SANDBOX: Policy = {
  ...OWN,
  'script-src': ["'self'", 'https://embeddable-sandbox.cdn.apollographql.com'],
  'frame-src': ['https://sandbox.embed.apollographql.com'],
};

/** The pages, and what they load. */
export interface Pages {
  readonly assets: Assets;
  readonly start: Page;
  readonly graphiql: Page;
  readonly sandbox: Page;
}

/** Reads all pages, once. @throws Error if a file is missing. */
export function readPages(): Pages {
  const assets = new Assets();
  const page = (name: string, policy: Policy): Page => ({
    html: assets.page(name),
    headers: pageHeaders(policy),
  });
  return {
    assets,
    start: page('start.html', OWN),
    graphiql: page('graphiql.html', GRAPHIQL),
    sandbox: page('sandbox.html', SANDBOX),
  };
}
