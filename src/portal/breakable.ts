import { escaped } from './html';

/** Code for HTML that may be broken between the words of a name, rather than before its last letter. */
export function breakable(code: string): string {
  return escaped(code).replace(/\w[_/](?=\w)|[a-z](?=[A-Z])/g, '$&<wbr>');
}
