// Writes the generated parts of the guides: the settings of src/app/config.ts into docs/configuration.md, and the Mermaid
// diagrams of the guides as docs/images/<page>-<n>.svg, for readers without a renderer of Mermaid. `npm run schema` runs it;
// with `--check` it writes nothing, and fails if something is not up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { renderMermaidSVG } from 'beautiful-mermaid';

const DOCS = new URL('.', import.meta.url);

/** The colours of the pages (src/portal/public/site.css). */
const LIGHT =
  '--bg:#fff;--fg:#1c1b19;--line:#5c5953;--accent:#0f766e;--muted:#5c5953;--surface:#e3f3f0;--border:#0f766e';
const DARK =
  '--bg:#181d1c;--fg:#ecebe7;--line:#a5aaa6;--accent:#2dd4bf;--muted:#a5aaa6;--surface:#12302c;--border:#2dd4bf';

/** @param {string} source a diagram; @returns {string} SVG, which follows the reader's colour scheme and loads nothing */
function drawn(source) {
  return `${renderMermaidSVG(source.replace(/<\/?i>/g, ''), { bg: '#fff', fg: '#1c1b19' })
    .replace(/ style="[^"]*"/, '')
    .replace(/ *@import .*\n/, '')
    .replace(/'Inter', /g, '')
    .replace('<style>', `<style>\n  svg { ${LIGHT} }\n  @media (prefers-color-scheme: dark) { svg { ${DARK} } }`)}\n`;
}

/** The groups of settings, in the order of the page. The last group has the settings that fit into no other group. */
const GROUPS = [
  [
    'The process',
    /^(PORT|HOST|WEB_CONCURRENCY|NODE_ENV|LOG_LEVEL|SHUTDOWN_DELAY_MS|METRICS_PORT)$/,
    'See also [operations](operations.md) and [scaling](scaling.md).',
  ],
  [
    'Data',
    /^(DATABASE_|DATA_DIR|REDIS_)/,
    'See also [PostgreSQL](postgresql.md), [Redis](redis.md) and [scaling](scaling.md).',
  ],
  [
    'Callers',
    /^(ANONYMOUS_ACCESS|ADMIN_API_KEY|JWT_|TRUST_PROXY|CORS_ORIGINS|BAN_)/,
    'See also [keys](keys.md), [sign in users](sign-in.md) and [bans](limits.md#bans).',
  ],
  [
    'GraphQL',
    /^(GRAPHQL_|TRUSTED_|SUBGRAPH|MAX_RESPONSE_BYTES)/,
    'See also [bounds](bounds.md), [trusted documents](trusted-documents.md) and [federation](federation.md).',
  ],
  ['Connections, requests and time', /^(MAX_|HEADERS_|KEEP_ALIVE_|REQUEST_)/, 'See also [bounds](bounds.md).'],
  ['Other', /^/, ''],
];

/** The values that a setting takes, by its parser. */
const TAKES = [
  [/^integer\((.+), (.+)\)$/, (low, high) => `${number(low)} to ${number(high)}`],
  [/^(?:oneOf|word)\((.+)\)$/, (values) => values.replaceAll("'", '`')],
  [/^userScopes$/, () => '`READ`, `ORDER`, `WRITE`, with spaces; or `none`'],
  [/^trustedUrl$/, () => 'a URL with https'],
  [/^flag$/, () => '`true`, `false`'],
  [/^postgres/, () => 'a `postgresql://` URL'],
  [/^redis/, () => 'a `redis://` URL'],
  [/^apiKey$/, () => 'an API key'],
  [/^proxies$/, () => 'addresses, CIDRs, or a number'],
  [/^origins$/, () => 'origins, comma-separated'],
  [/^absolutePath/, () => 'a path'],
  [/^/, () => 'text'],
];

const number = (text) => text.replaceAll('_', '');

/** @param {string} config the source of src/app/config.ts; @returns {string} tables of all settings, in Markdown */
function settings(config) {
  const found = [
    ...config.matchAll(
      /^ {2}\/\*\*\s+(?:\* )?((?:(?!\*\/)[\s\S])*?)\s*\*\/\n {2}([A-Z_]+): setting(?:<.*?>)?\(([\s\S]*?)\),\n(?= {2}\/\*\*|};)/gm,
    ),
  ];
  const rows = found.map(([, meaning, name, args]) => {
    const split = args
      .trimEnd()
      .replace(/,$/, '')
      .match(/^\s*([\s\S]*),\s*([^,]+)$/);
    return {
      name,
      row: `| \`${name}\` | ${byDefault(split[2])} | ${takes(split[1].trim())} | ${named(meaning.replace(/\s+\* /g, ' '))} |`,
    };
  });
  const described = found.filter(([, meaning]) => meaning.trim()).map(([, , name]) => name);
  const names = [...config.matchAll(/^ {2}([A-Z_]+): setting/gm)].map(([, name]) => name);
  const missing = names.filter((name) => !described.includes(name));
  if (missing.length) throw new Error(`src/app/config.ts has no description that can be read of ${missing.join(', ')}`);
  return GROUPS.map(([title, pattern, more]) => {
    const own = rows.filter(({ name }) => GROUPS.find(([, each]) => each.test(name))[1] === pattern);
    if (!own.length) return '';
    return `## ${title}\n\n${more}\n\n| variable | default | takes | meaning |\n| --- | --- | --- | --- |\n${own.map(({ row }) => row).join('\n')}\n`;
  })
    .filter(Boolean)
    .join('\n');
}

/** @param {string} text with the names of settings as code */
function named(text) {
  return text.replace(/`[^`]*`|\b[A-Z]+(?:_[A-Z]+)+\b|\bPORT\b/g, (each) =>
    each.startsWith('`') ? each : `\`${each}\``,
  );
}

function takes(parser) {
  for (const [pattern, says] of TAKES) {
    const match = pattern.exec(parser);
    if (match) return says(...match.slice(1));
  }
}

function byDefault(text) {
  if (text === 'undefined') return '';
  if (/^[\d_]+$/.test(text)) return number(text);
  return `\`${text.replace(/^(?:userScopes\()?'(.*)'\)?$/, '$1')}\``;
}

/** What is written, by file. */
const written = new Map();
const config = readFileSync(new URL('../src/app/config.ts', DOCS), 'utf8');
const page = readFileSync(new URL('configuration.md', DOCS), 'utf8');
written.set(
  'configuration.md',
  page.replace(
    /(<!-- settings -->\n)[\s\S]*(<!-- end -->)/,
    (_, begin, end) => `${begin}\n${settings(config)}\n${end}`,
  ),
);
for (const file of readdirSync(DOCS).filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(new URL(file, DOCS), 'utf8');
  for (const [index, [, source]] of [...text.matchAll(/```mermaid\n([\s\S]*?)```/g)].entries())
    written.set(`images/${file.slice(0, -3)}-${index + 1}.svg`, drawn(source));
}
const at = (name) => new URL(name, DOCS);
const stale = [...written].filter(([name, text]) => !existsSync(at(name)) || readFileSync(at(name), 'utf8') !== text);
if (!process.argv.includes('--check')) for (const [name, text] of stale) writeFileSync(at(name), text);
else if (stale.length) {
  console.error(`Not up to date: ${stale.map(([name]) => name).join(', ')}. To write them: npm run schema`);
  process.exitCode = 1;
}
