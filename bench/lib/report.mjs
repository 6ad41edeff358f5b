import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const readme = new URL('../README.md', import.meta.url);

/**
 * CPU-ms per request and p99 in ms of every workload and server, with their ratios to the baseline, as a Markdown table.
 * @param results one entry for each workload, number of connections and server, with `figures` (from `better`) or `failure`
 */
export function glance(results, servers) {
  const rows = results.filter(({ work, connections }, index) => results.findIndex(isOf(work, connections)) === index);
  const cell = (row, server) => {
    const result = results.filter(isOf(row.work, row.connections)).find((entry) => entry.server.name === server.name);
    if (!result) return '';
    if (!result.figures) return 'failed';
    const { cpuMs, p99 } = result.figures;
    const cpu = `${cpuMs.toFixed(3)}${times(result, results, (figures) => figures.cpuMs)}`;
    return `${cpu}, ${p99.toFixed(1)}${times(result, results, (figures) => figures.p99)}`;
  };
  return table(
    1,
    ['CPU-ms per request, p99 in ms', 'connections', ...servers.map(({ title }) => title)],
    rows.map((row) => [row.work.title, String(row.connections), ...servers.map((server) => cell(row, server))]),
  );
}

function isOf(work, connections) {
  return (entry) => entry.work === work && entry.connections === connections;
}

/** All figures of every workload and server, as a Markdown table, and a list of the failures. */
export function details(results) {
  const figures = table(
    2,
    ['work', 'server', 'connections', 'requests/s', 'p50 ms', 'p99 ms', 'CPU-ms/request', 'spread', 'memory MiB'],
    results.map((entry) => cells(entry, results)),
  );
  return [figures, ...failures(results)].join('\n');
}

function cells(entry, results) {
  const { work, connections, server, figures } = entry;
  if (!figures) return [work.title, server.title, String(connections), 'failed', '', '', '', '', ''];
  return [
    work.title,
    server.title,
    String(connections),
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

/** The ratio to the workload's baseline, as text; empty if the baseline has no figures. */
function times({ work, connections, figures }, results, figure) {
  const baseline = results
    .filter(isOf(work, connections))
    .find((entry) => entry.figures && entry.server.baselineOf?.includes(work.face));
  return baseline ? ` (${(figure(figures) / figure(baseline.figures)).toFixed(2)})` : '';
}

/** A Markdown table. The first `texts` columns are aligned to the left, and figures to the right. */
function table(texts, header, rows) {
  const lines = [header, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = header.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column].length)));
  const rule = widths.map((width, column) => (column < texts ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const padded = lines.map((cells) =>
    cells.map((cell, column) => (column < texts ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))),
  );
  return [padded[0], rule, ...padded.slice(1)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The date, machine, versions and options of a run, so that a reader can reproduce the table. */
export function circumstances(postgres, pinned, { rounds, seconds }) {
  const processors = cpus();
  const machine = `${processors[0].model.trim()}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const cores = pinned ? 'server on one core, load on another' : 'server and load NOT on separate cores';
  const date = new Date().toISOString().slice(0, 10);
  return `${date} · ${machine} · Node ${process.versions.node} · ${postgres} · ${cores} · better quartile of ${rounds} rounds of ${seconds} s`;
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
