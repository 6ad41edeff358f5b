// @ts-check
import { html } from './elements.js';
import { dayOf, momentOf, timeOf } from './times.js';
import { inWords, meter, spell, sumOf, usageChart, windowMeter } from './usage-chart.js';

/** @typedef {import('./admin-api.js').Key} Key */

/** The list item for a key. The attribute `data-action` of its buttons names the action. @param {Key} key */
export function keyItem(key) {
  const ended = endOf(key);
  const isBanned = key.bannedUntil && !ended;
  const { requests, refused } = sumOf(key.usage);
  /** @param {string} action @param {string} label @param {string} [look] */
  const button = (action, label, look = '') =>
    html`<button type="button" class="${look}" data-action="${action}" aria-label="${label} ${key.name}">${label}</button>`;
  return html`<li class="card key" data-id="${key.id}" tabindex="-1">
    <div>
      <h3>${key.name}</h3>
      <code>${key.id}</code>
      <p class="soft">created ${dayOf(key.createdAt)}${key.expiresAt && !ended && `, expires ${dayOf(key.expiresAt)}`}</p>
    </div>
    <div>
      <p><span class="tag">${key.plan}</span> ${ended && html`<span class="tag bad">${ended}</span>`}</p>
      ${key.sharesQuotaOf && html`<p class="soft">shares the quota of ${key.sharesQuotaOf}</p>`}
      <p class="soft">${key.scopes.join(', ').toLowerCase() || 'no scopes'}</p>
      ${!ended && key.oldSecretExpiresAt && html`<p class="soft">old secret works until ${momentOf(key.oldSecretExpiresAt)}</p>`}
      <p class="soft">${key.lastUsedAt ? `used ${ago(key.lastUsedAt)}` : 'never used'}</p>
    </div>
    <div>
      <p class="soft"><b>${spell(requests)}</b> in 30 days${refused > 0 && `, ${spell(refused)} refused`}</p>
      ${usageChart(key.usage)}
    </div>
    <div>
      ${isBanned && html`<p class="tag bad">banned until ${timeOf(String(key.bannedUntil))}</p>`}
      ${!ended && key.rateLimit.windows.map((window) => windowMeter(window))}
    </div>
    <div class="actions row">
      ${isBanned && button('unban', 'Lift ban')}
      ${!key.revokedAt && button('change', 'Change')}
      ${!ended && button('rotate', 'Rotate')}
      ${!key.revokedAt && button('revoke', 'Revoke', 'bad')}
    </div>
  </li>`;
}

/** The names of callers that are counted together. @type {Record<string, string>} */
const TOGETHER = { USERS: 'Users', ANONYMOUS: 'Without a key' };

/** @param {readonly import('./admin-api.js').Caller[]} callers */
export function callerItems(callers) {
  const most = Math.max(1, ...callers.map(({ requests }) => requests));
  return callers.map(
    ({ kind, apiKey, ...used }) => html`<li><strong>${apiKey ? apiKey.name : TOGETHER[kind]}</strong>
      ${meter(used.requests, most)}<span class="soft">${inWords(used)}</span></li>`,
  );
}

/** @param {readonly import('./admin-api.js').Change[]} changes */
export function changeItems(changes) {
  if (!changes.length) return html`<li class="soft">Nothing has changed yet.</li>`;
  return changes.map(
    ({ at, topic, kind, objectId, requestId, actor }) => html`<li>
      <strong>${inLowerCase(topic)} ${objectId} ${inLowerCase(kind)}</strong>
      <span class="soft">${momentOf(at)}, by ${actor ?? (requestId === null ? 'the service' : 'a caller without a key')}${requestId && `, request ${requestId}`}</span>
    </li>`,
  );
}

/** @param {string} name the name of an enum value */
function inLowerCase(name) {
  return name.toLowerCase().replace('_', ' ');
}

/** Says when the key was revoked or expired; empty if the key is valid. @param {Key} key */
function endOf({ revokedAt, expiresAt }) {
  if (revokedAt) return `revoked ${dayOf(revokedAt)}`;
  return expiresAt && new Date(expiresAt).getTime() <= Date.now() ? `expired ${dayOf(expiresAt)}` : '';
}

/** @param {string} time */
function ago(time) {
  const minutes = Math.round((Date.now() - new Date(time).getTime()) / 60_000);
  if (minutes < 2) return 'just now';
  if (minutes < 100) return `${minutes} min ago`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}
