// @ts-check
/** Matches the default address of a gateway, which the guides use in examples. Examples with curl omit the scheme. */
const WRITTEN = /(?:(http|ws):\/\/)?(?:localhost|127\.0\.0\.1):4000/g;

/** Replaces the default address in the examples and links of a page by the address of this server. */
export function nameThisServer() {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('main a[href]'))) {
    const href = link.getAttribute('href') ?? '';
    if (href.search(WRITTEN) === 0) link.href = here(href);
  }
  const texts = document.createTreeWalker(document.querySelector('main') ?? document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    if (text.parentElement?.closest('pre, code, a')) text.data = here(text.data);
  }
}

/** @param {string} text */
function here(text) {
  const { origin, host, protocol } = location;
  return text.replace(WRITTEN, (_, scheme) => {
    if (scheme) return scheme === 'ws' ? origin.replace(/^http/, 'ws') : origin;
    return protocol === 'https:' ? origin : host;
  });
}
