import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import type { Catalogue } from '../errors/codes';
import { helpOf } from '../errors/errors';
import { isGuide } from './contents';
import type { Found } from './found';
import { graphqlPlaces } from './graphql-places';
import type { Library, ShownGuide } from './library';
import { restPlaces } from './rest-places';
import { ALSO_CALLED, FOUND_LAST } from './search-words';

/** Every section of the guides, every setting, operation, type, parameter, header and error. */
export function searchIndex(
  library: Library,
  document: OpenAPIV3.Document,
  schema: GraphQLSchema,
  errors: Catalogue,
): Found[] {
  const found = [...inGuides(library), ...restPlaces(document), ...graphqlPlaces(schema), ...inErrors(errors)];
  return found.map((place) => ({ ...place, text: place.text.replaceAll('`', ''), also: ALSO_CALLED[place.href] }));
}

function inGuides({ groups, guides }: Library): Found[] {
  const references = groups.flatMap(({ entries }) => entries.filter((entry) => !isGuide(entry)));
  return [
    ...references.map(({ title, summary, href }) => ({
      kind: 'Guide',
      title,
      within: 'Reference',
      text: summary,
      href,
    })),
    ...guides.flatMap(inGuide),
  ];
}

function inGuide({ name, title, href, markdown, parsed }: ShownGuide): Found[] {
  const last = FOUND_LAST.includes(name) ? ({ last: true } as const) : {};
  const texts = markdown.split(/^## /m);
  return parsed().sections.flatMap(({ level, id, text, content }, index) => {
    const at = level === 1 ? href : `${href}#${id}`;
    const section = { kind: 'Guide', title: text, within: level === 1 ? '' : title, text: content, href: at, ...last };
    return name === 'configuration' ? [section, ...settingsIn(texts[index] ?? '', at)] : [section];
  });
}

/** The rows of a table of settings. */
function settingsIn(markdown: string, href: string): Found[] {
  return [...markdown.matchAll(/^\| `(\w+)` \|.*\| (.+) \|$/gm)].map(([, title = '', text = '']) => ({
    kind: 'Setting',
    title,
    within: 'Configuration',
    text,
    href,
  }));
}

function inErrors(errors: Catalogue): Found[] {
  return Array.from(errors, ([code, { status, why, fix }]) => {
    return { kind: 'Error', title: code, within: String(status), text: `${why} ${fix}`, href: helpOf(code) };
  });
}
