// @ts-check
import { make } from './elements.js';
import { inWords, spell, sumOf, usageChart } from './usage-chart.js';

/** @typedef {import('./admin-api.js').Key} Key */
/** @typedef {'change' | 'rotate' | 'revoke' | 'unban'} Action */

/**
 * One key of the list.
 * @param {Key} key
 * @param {(action: Action, key: Key) => void} onAction
 */
export function keyItem(key, onAction) {
  const ended = endOf(key);
  const sum = sumOf(key.usage);
  /** @param {Action} action @param {string} label @param {string} [look] */
  const button = (action, label, look = '') =>
    make(
      'button',
      {
        type: 'button',
        class: `act ${look}`,
        'aria-label': `${label} ${key.name}`,
        click: () => onAction(action, key),
      },
      label,
    );
  return make(
    'li',
    { class: 'card key', 'data-ended': ended !== '' },
    make(
      'div',
      { class: 'key-name' },
      make('h3', {}, key.name),
      make('code', {}, key.id),
      make(
        'p',
        { class: 'soft' },
        `created ${dayOf(key.createdAt)}`,
        key.expiresAt && !ended ? `, expires ${dayOf(key.expiresAt)}` : '',
      ),
    ),
    make(
      'div',
      { class: 'key-plan' },
      make('p', {}, make('span', { class: 'tag' }, key.plan), ' ', ended && make('span', { class: 'tag bad' }, ended)),
      make('p', { class: 'soft' }, key.scopes.join(', ').toLowerCase() || 'no scopes'),
      make('p', { class: 'soft' }, key.lastUsedAt ? `used ${ago(key.lastUsedAt)}` : 'never used'),
    ),
    make(
      'div',
      { class: 'key-usage' },
      make(
        'p',
        { class: 'soft' },
        make('b', {}, spell(sum.requests)),
        ' in 30 days',
        sum.refused ? `, ${spell(sum.refused)} refused` : '',
      ),
      usageChart(key.usage),
    ),
    make('div', { class: 'key-now' }, ...nowOf(key)),
    make(
      'div',
      { class: 'key-actions' },
      key.bannedUntil !== null && button('unban', 'Lift ban'),
      button('change', 'Change'),
      !ended && button('rotate', 'Rotate'),
      !key.revokedAt && button('revoke', 'Revoke', 'bad'),
    ),
  );
}

/** What is left of its quota, and its ban. @param {Key} key */
function nowOf({ bannedUntil, rateLimit: { windows } }) {
  const banned = bannedUntil && make('p', { class: 'tag bad' }, `banned until ${timeOf(bannedUntil)}`);
  const meters = windows.map(({ name, limit, remaining }) => {
    const bar = make('i');
    bar.style.width = `${(remaining / limit) * 100}%`;
    const meter = {
      role: 'meter',
      'aria-label': `Left this ${name}`,
      'aria-valuemin': 0,
      'aria-valuemax': limit,
      'aria-valuenow': remaining,
    };
    return make(
      'div',
      { class: remaining <= limit * 0.2 ? 'window low' : 'window' },
      make('p', { class: 'soft' }, make('b', {}, spell(remaining)), ` of ${spell(limit)} left this ${name}`),
      make('div', { class: 'bar', ...meter }, bar),
    );
  });
  return [...(banned ? [banned] : []), ...meters];
}

/** @param {readonly import('./admin-api.js').Caller[]} callers */
export function callerItems(callers) {
  const most = Math.max(1, ...callers.map(({ requests }) => requests));
  return callers.map(({ apiKey, ...used }) => {
    const bar = make('i');
    bar.style.width = `${(used.requests / most) * 100}%`;
    return make(
      'li',
      {},
      make('span', { class: 'caller' }, apiKey ? apiKey.name : 'Without a key'),
      make('span', { class: 'bar', 'aria-hidden': 'true' }, bar),
      make('span', { class: 'soft' }, inWords(used)),
    );
  });
}

/** Why a key is not accepted any more. @param {Key} key */
function endOf({ revokedAt, expiresAt }) {
  if (revokedAt) return `revoked ${dayOf(revokedAt)}`;
  return expiresAt && new Date(expiresAt).getTime() <= Date.now() ? `expired ${dayOf(expiresAt)}` : '';
}

/** @param {string} time */
const dayOf = (time) => new Date(time).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' });
/** @param {string} time */
const timeOf = (time) => new Date(time).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });

/** @param {string} time */
function ago(time) {
  const minutes = Math.round((Date.now() - new Date(time).getTime()) / 60_000);
  if (minutes < 2) return 'just now';
  if (minutes < 100) return `${minutes} min ago`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}
