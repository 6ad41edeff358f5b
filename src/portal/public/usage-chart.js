// @ts-check
import { html } from './elements.js';

/** @typedef {{ requests: number, refused: number, bans: number }} Usage */
/** @typedef {Usage & { date: string }} Day the usage on one day in UTC */

/** Height of the tallest bar, in units of the SVG. A day is 10 units wide. */
const HEIGHT = 48;

/** @param {number} count */
export const spell = (count) => count.toLocaleString('en');

/** @param {readonly Day[]} days @returns {Usage} */
export function sumOf(days) {
  const sum = { requests: 0, refused: 0, bans: 0 };
  for (const { requests, refused, bans } of days) {
    sum.requests += requests;
    sum.refused += refused;
    sum.bans += bans;
  }
  return sum;
}

/** @param {Usage} usage @returns {string} such as `1,204 requests, 3 refused, 1 ban` */
export function inWords({ requests, refused, bans }) {
  const parts = [requests === 1 ? '1 request' : `${spell(requests)} requests`];
  if (refused) parts.push(`${spell(refused)} refused`);
  if (bans) parts.push(bans === 1 ? '1 ban' : `${spell(bans)} bans`);
  return parts.join(', ');
}

/**
 * A chart with a bar for each day. Refused requests are stacked on top of the other requests.
 * @param {readonly Day[]} days
 */
export function usageChart(days) {
  const most = Math.max(1, ...days.map(({ requests, refused }) => requests + refused));
  /** Height of a bar. Any count above 0 gets a visible height. @param {number} count */
  const heightOf = (count) => count && Math.max(1.5, (count / most) * HEIGHT);
  return html`<svg class="usage-chart" viewBox="0 0 ${days.length * 10 - 2} ${HEIGHT}" preserveAspectRatio="none" role="img"
    aria-label="Last ${days.length} days: ${inWords(sumOf(days))}">${days.map((day, index) => {
      const requests = heightOf(day.requests);
      const refused = heightOf(day.refused);
      return html`<g transform="translate(${index * 10})"><title>${day.date}: ${inWords(day)}</title>
        <rect fill="transparent" width="8" height="${HEIGHT}"/>
        <rect y="${HEIGHT - requests}" width="8" height="${requests}" rx="1"/>
        <rect fill="var(--bad)" y="${HEIGHT - requests - refused}" width="8" height="${refused}" rx="1"/></g>`;
    })}</svg>`;
}

/**
 * A bar that shows a value as a fraction of `most`. It is an SVG with attributes, because the Content-Security-Policy
 * forbids inline styles.
 * @param {number} value
 * @param {number} most
 * @param {string} [label] the label for screen readers. A bar without a label is hidden from them
 */
export function meter(value, most, label) {
  const width = most ? (value / most) * 100 : 0;
  const role = label
    ? html`role="meter" aria-label="${label}" aria-valuemin="0" aria-valuemax="${most}" aria-valuenow="${value}"`
    : html`aria-hidden="true"`;
  return html`<svg class="bar ${width <= 20 && label && 'low'}" viewBox="0 0 100 1" preserveAspectRatio="none" ${role}><rect
    width="${width}" height="1"/></svg>`;
}

/**
 * Shows how much is left of a window of a quota, as text and as a bar.
 * @param {{ name: string, limit: number, remaining: number }} window
 * @param {string} [reset] text that says when the window resets
 */
export function windowMeter({ name, limit, remaining }, reset) {
  return html`<p class="row soft" data-window="${name}"><b>${spell(remaining)}</b> of ${spell(limit)} left this
    ${name} <span>${reset}</span></p>${meter(remaining, limit, `Left this ${name}`)}`;
}
