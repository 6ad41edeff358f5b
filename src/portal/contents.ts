import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The project's directory, also for the build in `dist`. */
const PROJECT = join(__dirname, '..', '..');

/**
 * The guides in their order, by group: the names of files in `docs/`, and links to other pages. A file that is not named here
 * comes last, under {@link OTHERS}.
 */
const GROUPS: readonly (readonly [group: string, entries: readonly (string | Link)[]])[] = [
  ['Begin', ['getting-started']],
  ['GraphQL clients', ['graphql-clients', 'relay', 'live-events', 'trusted-documents', 'federation']],
  ['REST clients', ['rest-clients']],
  ['Any client', ['idempotency', 'error-handling', 'deprecation']],
  ['Keys and limits', ['keys', 'limits', 'usage', 'bounds']],
  [
    'Reference',
    [
      { title: 'REST', href: '/docs/rest', summary: 'Every operation of the REST interface, to try out.' },
      {
        title: 'GraphQL',
        href: '/docs/graphql',
        summary: 'Every operation and type of the schema, with scopes, errors and costs.',
      },
      { title: 'Errors', href: '/docs/errors', summary: 'Every error code: why it comes, and what to do.' },
      'configuration',
    ],
  ],
  ['In production', ['operations', 'scaling', 'postgresql', 'redis', 'backup', 'compatibility']],
  ['The project', ['architecture', 'decisions', 'releases', 'changelog', 'contributing', 'security', 'benchmarks']],
];
const OTHERS = 'More';

/** Pages that are not in `docs/`, by name. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  changelog: 'CHANGELOG.md',
  contributing: 'CONTRIBUTING.md',
  security: 'SECURITY.md',
  benchmarks: 'bench/README.md',
};

/** In `docs/`, but shown by pages of their own. */
const SHOWN_OTHERWISE = ['errors'];

/** A page that is not one of the guides. */
export interface Link {
  readonly title: string;
  /** A path of this server. */
  readonly href: string;
  /** What it is, in a sentence. */
  readonly summary: string;
}

/** A guide as it is committed. */
export interface Guide extends Link {
  /** The last part of its path. */
  readonly name: string;
  /** Relative to the project. */
  readonly file: string;
  readonly markdown: string;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly (Guide | Link)[];
}

/** All guides by group. @throws Error if one of the table is missing. */
export function readContents(): readonly Group[] {
  const named = new Set(GROUPS.flatMap(([, entries]) => entries));
  const present = readdirSync(join(PROJECT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length));
  const others = present.filter((name) => !named.has(name) && !SHOWN_OTHERWISE.includes(name));
  return [...GROUPS, [OTHERS, others] as const]
    .filter(([, entries]) => entries.length)
    .map(([title, entries]) => ({
      title,
      entries: entries.map((entry) => (typeof entry === 'string' ? readGuide(entry) : entry)),
    }));
}

export function isGuide(entry: Guide | Link): entry is Guide {
  return 'markdown' in entry;
}

function readGuide(name: string): Guide {
  const file = ELSEWHERE[name] ?? `docs/${name}.md`;
  const markdown = readFileSync(join(PROJECT, file), 'utf8');
  const [, title = '', lead = ''] = /^# (.+)\n+((?:.+\n)*)/.exec(markdown) ?? [];
  if (!title) throw new Error(`${file} does not begin with a title`);
  return { name, file, title, href: `/docs/${name}`, summary: firstSentence(lead), markdown };
}

/** The first sentence of a paragraph, without its markup. */
function firstSentence(paragraph: string): string {
  const text = paragraph
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}
