import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * The self time in V8 CPU profiles between two instants, excluding idle time.
 * @param profiles as `--cpu-prof` writes them
 * @param from,to microseconds of the monotonic clock
 * @returns microseconds by package or directory (`byPlace`), by function (`byFunction`), and in total
 */
export function selfTimes(profiles, from, to) {
  const byPlace = new Map();
  const byFunction = new Map();
  let totalUs = 0;
  for (const { nodes, samples, timeDeltas, startTime } of profiles) {
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    let at = startTime;
    samples.forEach((id, i) => {
      at += timeDeltas[i];
      // A sample represents the time until the next sample.
      const frame = frames.get(id);
      const us = Math.max(0, timeDeltas[i + 1] ?? 0);
      if (at < from || at > to || frame.functionName === '(idle)') return;
      const place = placeOf(frame);
      add(byPlace, place, us);
      add(byFunction, `${frame.functionName || '(anonymous)'} — ${place}${lineOf(frame)}`, us);
      totalUs += us;
    });
  }
  return { byPlace, byFunction, totalUs };
}

/**
 * The place of a function: an npm package, a directory of the gateway, a baseline, Node itself, or a V8 entry such as
 * `(garbage collector)`.
 */
function placeOf({ functionName, url }) {
  const path = url.replace(/^file:\/\//, '');
  if (path === '') return functionName.startsWith('(') ? functionName : 'native and generated code';
  if (path.startsWith('node:')) return 'node';
  const [, packageName] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  if (packageName) return packageName;
  const [, room] = /^(?:dist|src)\/([^/]+)/.exec(path.slice(root.length)) ?? [];
  if (room) return `src/${room}`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}

function lineOf({ url, lineNumber }) {
  return url ? ` ${url.slice(url.lastIndexOf('/') + 1)}:${lineNumber + 1}` : '';
}

function add(map, key, us) {
  map.set(key, (map.get(key) ?? 0) + us);
}

/** The entries with the most time, with their share and microseconds per request. */
export function table(title, entries, totalUs, requests, top = Number.POSITIVE_INFINITY) {
  const sorted = [...entries].sort(([, a], [, b]) => b - a).slice(0, top);
  const lines = sorted.map(([name, us]) => {
    const share = `${((us / totalUs) * 100).toFixed(1)} %`;
    return `${share.padStart(7)} ${(us / requests).toFixed(1).padStart(9)}  ${name}`;
  });
  return [`  share µs/request ${title}`, ...lines, ''].join('\n');
}
