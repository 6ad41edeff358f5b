// @ts-check
/** @typedef {{ date: string, requests: number, refused: number, bans: number }} Day what was used on a day in UTC */

const SVG = 'http://www.w3.org/2000/svg';
const NAMES = /** @type {const} */ (['requests', 'refused', 'bans']);
/** Width of a day and the gap after it, and the height of the tallest bar, in the units of the drawing. */
const BAR = 8;
const GAP = 2;
const HEIGHT = 48;

/** @param {number} count */
export const spell = (count) => count.toLocaleString('en');

/** @param {readonly Day[]} days @returns {Record<typeof NAMES[number], number>} the sums over all days */
export function sumOf(days) {
  const sum = { requests: 0, refused: 0, bans: 0 };
  for (const day of days) for (const name of NAMES) sum[name] += day[name];
  return sum;
}

/** @param {Record<typeof NAMES[number], number>} used @returns {string} it in words: `1,204 requests, 3 refused, 1 ban` */
export function inWords({ requests, refused, bans }) {
  return [
    requests === 1 ? '1 request' : `${spell(requests)} requests`,
    refused ? `${spell(refused)} refused` : '',
    bans ? `${spell(bans)} ${bans === 1 ? 'ban' : 'bans'}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/**
 * A bar for each day: its requests, with the refused ones on top. What it shows is its label too.
 * @param {readonly Day[]} days
 * @returns {SVGSVGElement}
 */
export function usageChart(days) {
  const svg = part('svg', {
    viewBox: `0 0 ${days.length * (BAR + GAP) - GAP} ${HEIGHT}`,
    preserveAspectRatio: 'none',
    role: 'img',
    class: 'usage-chart',
    'aria-label': `Last ${days.length} days: ${inWords(sumOf(days))}`,
  });
  const most = Math.max(1, ...days.map(({ requests, refused }) => requests + refused));
  for (const [i, day] of days.entries()) {
    const group = part('g', { transform: `translate(${i * (BAR + GAP)} 0)` });
    const title = part('title', {});
    title.textContent = `${day.date}: ${inWords(day)}`;
    const requests = heightOf(day.requests, most);
    const refused = heightOf(day.refused, most);
    group.append(
      title,
      bar('ground', 0, HEIGHT),
      bar('requests', HEIGHT - requests, requests),
      bar('refused', HEIGHT - requests - refused, refused),
    );
    svg.append(group);
  }
  return /** @type {SVGSVGElement} */ (svg);
}

/** What is not nothing can be seen. @param {number} count @param {number} most */
function heightOf(count, most) {
  return count && Math.max(1.5, (count / most) * HEIGHT);
}

/** @param {string} kind @param {number} y @param {number} height */
function bar(kind, y, height) {
  return part('rect', { class: kind, x: 0, y: Math.max(0, y), width: BAR, height, rx: kind === 'ground' ? 0 : 1 });
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function part(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  return element;
}
