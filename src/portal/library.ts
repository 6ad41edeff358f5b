import { posix } from 'node:path';
import type { Assets } from './assets';
import { type Group, type Guide, isGuide, type Link, readContents } from './contents';
import { type Parsed, parse, type Targets } from './markdown';

export interface ShownGuide extends Guide {
  readonly previous: Link | undefined;
  readonly next: Link | undefined;
  /** Reads the page when it is first called. */
  parsed(): Parsed;
}

export interface Library {
  readonly groups: readonly Group[];
  /** In the order of the navigation. */
  readonly guides: readonly ShownGuide[];
}

/** Files that this server has under another path, besides the guides. */
const SERVED: Readonly<Record<string, string>> = {
  'schema.graphql': '/schema.graphql',
  'README.md': '/docs',
  docs: '/docs',
  'docs/errors.md': '/docs/errors',
};

/** Reads all guides. @throws Error if one is missing. */
export function openLibrary(assets: Assets): Library {
  const groups = readContents();
  const inOrder = groups.flatMap(({ entries }) => entries.filter(isGuide));
  const paths = new Map(inOrder.map(({ file, href }) => [file, href]));
  for (const [file, path] of Object.entries(SERVED)) paths.set(file, path);
  const guides = inOrder.map((guide, index): ShownGuide => {
    let parsed: Parsed | undefined;
    return {
      ...guide,
      previous: inOrder[index - 1],
      next: inOrder[index + 1],
      parsed: () => (parsed ??= parse(guide.markdown, targetsOf(guide, paths, assets))),
    };
  });
  return { groups, guides };
}

function targetsOf({ name, file }: Guide, paths: ReadonlyMap<string, string>, assets: Assets): Targets {
  return {
    link: (href) => {
      if (/^(https?:|#)/.test(href)) return href;
      const [target = '', anchor] = href.split('#');
      const path = paths.get(posix.join(posix.dirname(file), target));
      if (!path || anchor === undefined) return path;
      // The anchors of the errors' own page are the codes.
      return `${path}#${path === '/docs/errors' ? anchor.toUpperCase() : anchor}`;
    },
    picture: (source) => `${assets.path}/${source}`,
    diagram: (n) => `images/${name}-${n}.svg`,
  };
}
