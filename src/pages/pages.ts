import { Assets } from './assets';
import { OWN, type Page, type Policy, pageHeaders } from './page';

/** GraphiQL's fonts are in its style sheet. */
const GRAPHIQL: Policy = { ...OWN, 'font-src': ['data:'] };

/** Sandbox is a script and a frame of Apollo's; its requests are made by our page, to here. */
const SANDBOX: Policy = {
  ...OWN,
  'script-src': ["'self'", 'https://embeddable-sandbox.cdn.apollographql.com'],
  'frame-src': ['https://sandbox.embed.apollographql.com'],
};

/** The pages for people, and what they load. */
export interface Pages {
  readonly assets: Assets;
  readonly start: Page;
  readonly graphiql: Page;
  readonly sandbox: Page;
}

/** Reads them all, once. @throws Error where a file is missing. */
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
