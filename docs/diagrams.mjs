// Draws the Mermaid diagrams of the guides as docs/images/<page>-<n>.svg, for readers without a renderer of Mermaid.
// `node docs/diagrams.mjs` writes them; `node docs/diagrams.mjs --check` fails if one is not up to date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { renderMermaidSVG } from 'beautiful-mermaid';

const DOCS = new URL('.', import.meta.url);
/** The colours of the pages (src/pages/public/page.css). */
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

const stale = [];
for (const file of readdirSync(DOCS).filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(new URL(file, DOCS), 'utf8');
  for (const [index, [, source]] of [...text.matchAll(/```mermaid\n([\s\S]*?)```/g)].entries()) {
    const name = `images/${file.slice(0, -3)}-${index + 1}.svg`;
    const svg = drawn(source);
    if (!process.argv.includes('--check')) writeFileSync(new URL(name, DOCS), svg);
    else if (readFileSync(new URL(name, DOCS), 'utf8') !== svg) stale.push(name);
  }
}
if (stale.length) {
  console.error(`Not up to date: ${stale.join(', ')}. To draw them: npm run schema`);
  process.exitCode = 1;
}
