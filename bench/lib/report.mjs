import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const readme = new URL('../README.md', import.meta.url);

/**
 * The results as Markdown: the CPU time of every workload and server at a glance, then all figures.
 * @param results one entry per workload and server: `work`, `server`, `figures` (of `better`) or `failure`
 */
export function report(results, works, servers) {
  return [...glance(results, works, servers), '', ...details(results, works), ...failures(results)].join('\n');
}

function glance(results, works, servers) {
  const row = (work) =>
    servers.map(({ name }) => {
      const result = results.find((entry) => entry.work === work && entry.server.name === name);
      if (!result) return '';
      if (!result.figures) return 'failed';
      return `${result.figures.cpuMs.toFixed(3)}${times(result, results, ({ cpuMs }) => cpuMs)}`;
    });
  return table(
    1,
    ['CPU-ms per request', ...servers.map(({ title }) => title)],
    works.map((work) => [work.title, ...row(work)]),
  );
}

function details(results, works) {
  return table(
    2,
    ['work', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU-ms/request', 'spread', 'memory MiB'],
    works.flatMap((work) => results.filter((entry) => entry.work === work).map((entry) => cells(entry, results))),
  );
}

function cells(entry, results) {
  const { work, server, figures } = entry;
  if (!figures) return [work.title, server.title, 'failed', '', '', '', '', ''];
  return [
    work.title,
    server.title,
    `${Math.round(figures.perSecond)}${times(entry, results, ({ perSecond }) => perSecond)}`,
    figures.p50.toFixed(2),
    figures.p99.toFixed(2),
    `${figures.cpuMs.toFixed(3)}${times(entry, results, ({ cpuMs }) => cpuMs)}`,
    `${Math.round(figures.spread * 100)} %`,
    String(Math.round(figures.rssMb)),
  ];
}

function failures(results) {
  const failed = results.filter(({ failure }) => failure);
  const lines = failed.map(({ work, server, failure }) => `- ${work.title}, ${server.title}: ${failure}`);
  return lines.length ? ['', ...lines] : [];
}

/** The ratio to the workload's baseline, if there is one. */
function times({ work, figures }, results, figure) {
  const baseline = results.find(
    (entry) => entry.work === work && entry.figures && entry.server.baselineOf?.includes(work.face),
  );
  return baseline ? ` (${(figure(figures) / figure(baseline.figures)).toFixed(2)})` : '';
}

/** A Markdown table, aligned as the formatter does: the first `texts` columns to the left, figures to the right. */
function table(texts, header, rows) {
  const lines = [header, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = header.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column].length)));
  const rule = widths.map((width, column) => (column < texts ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const padded = lines.map((cells) =>
    cells.map((cell, column) => (column < texts ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))),
  );
  return [padded[0], rule, ...padded.slice(1)].map((cells) => `| ${cells.join(' | ')} |`);
}

/** What a reader needs to reproduce the table. */
export function circumstances(postgres, pinned, { rounds, seconds, connections }) {
  const processors = cpus();
  const machine = `${processors[0].model.trim()}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const cores = pinned ? 'server on one core, load on another' : 'server and load NOT on separate cores';
  const date = new Date().toISOString().slice(0, 10);
  return `${date} · ${machine} · Node ${process.versions.node} · ${postgres} · ${cores} · ${connections} connections · better quartile of ${rounds} rounds of ${seconds} s`;
}

/** Replaces the text between the README's markers. */
export function writeReadme(text) {
  const page = readFileSync(readme, 'utf8');
  const marked = /(<!-- results -->)[\s\S]*(<!-- \/results -->)/;
  writeFileSync(
    readme,
    page.replace(marked, (_, open, close) => `${open}\n\n${text}\n\n${close}`),
  );
}
