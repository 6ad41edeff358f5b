import type { ErrorCode } from './error-codes';

/** The anchor of a code on the page of errors, the same as its heading's in docs/errors.md on a code host. */
export function anchorOf(code: ErrorCode): string {
  return code.toLowerCase();
}

/** Where a code is described: why it comes, and what to do about it. A path of this server. */
export function helpOf(code: ErrorCode): string {
  return `/docs/errors#${anchorOf(code)}`;
}

/** The `Link` to the description of a code (RFC 8288). */
export function helpLink(code: ErrorCode): string {
  return `<${helpOf(code)}>; rel="help"`;
}

/** The `Link` to the description of what is deprecated, and of what to use instead: of the only such element, if there is one. */
export function deprecationLink([first, ...others]: readonly { readonly coordinate: string }[]): string {
  const anchor = first && !others.length ? `#${encodeURI(first.coordinate)}` : '';
  return `</docs/graphql${anchor}>; rel="deprecation"; type="text/html"`;
}
