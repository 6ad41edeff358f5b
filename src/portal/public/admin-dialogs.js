// @ts-check

import { describeError, firstInvalid } from './admin-errors.js';
import { copyButton } from './copy-button.js';
import { byId, html, render } from './elements.js';
import { momentOf } from './times.js';

/** @typedef {import('./admin-api.js').Key} Key */

const PLANS = ['FREE', 'PRO', 'BUSINESS', 'ENTERPRISE'];
const SCOPES = ['READ', 'WRITE', 'ADMIN'];
const GRACE = [
  ['86400', '24 hours'],
  ['3600', 'one hour'],
  ['604800', '7 days'],
  ['0', 'no time: it has leaked'],
];
const dialog = /** @type {HTMLDialogElement} */ (byId('dialog'));
// Removes the contents when the dialog closes, so that no secret stays in the page.
dialog.addEventListener('close', () => {
  if (!dialog.open) dialog.replaceChildren();
});
// Esc must not close the dialog while it shows a secret, which cannot be shown again. Preventing `cancel` does not suffice:
// on a second Esc, browsers close the dialog anyway.
const keepSecret = (/** @type {Event} */ event) => byId('secret') && event.preventDefault();
addEventListener('keydown', (event) => event.key === 'Escape' && keepSecret(event));
dialog.addEventListener('cancel', keepSecret);

/** @param {ReturnType<typeof html>} content */
function open(content) {
  render(dialog, content);
  dialog.querySelector('[value="close"]')?.addEventListener('click', () => dialog.close());
  if (!dialog.open) dialog.showModal();
}

/**
 * Shows a form, and closes it when `run` succeeds.
 * @param {{ title: string, text?: string, fields?: ReturnType<typeof html>, submit: string, look?: string }} form
 * @param {(data: FormData) => Promise<void>} run called on submit. If it rejects, the form shows the error's message
 */
function showForm({ title, text, fields, submit, look = '' }, run) {
  open(html`<form class="stack" method="dialog">
    <h2 id="dialog-title">${title}</h2>
    ${text && html`<p class="soft">${text}</p>`}
    ${fields}
    <p id="problem" class="bad" role="alert"></p>
    <div class="row end">
      <button type="button" value="close">Cancel</button>
      <button type="submit" class="button primary ${look}">${submit}</button>
    </div>
  </form>`);
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector('form'));
  // The button is not disabled while the request runs, since a disabled button loses the focus.
  let isRunning = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isRunning) return;
    isRunning = true;
    byId('problem').textContent = '';
    try {
      await run(new FormData(form));
      if (form.isConnected) dialog.close();
    } catch (error) {
      byId('problem').textContent = describeError(error, form);
      firstInvalid(form)?.focus();
    }
    isRunning = false;
  });
}

/** @param {string} label @param {ReturnType<typeof html>} input */
const field = (label, input) => html`<label class="field"><span>${label}</span>${input}</label>`;

/** @param {string} name @param {number | null | undefined} value */
const limitInput = (name, value) =>
  html`<input name="${name}" type="number" min="1" max="2147483647" value="${value}">`;

/**
 * Shows the form for the fields of a key.
 * @param {Key | undefined} key the key to change; `undefined` to create a key
 * @param {(input: Record<string, unknown>) => Promise<void>} run
 */
export function showKeyForm(key, run) {
  const { name, plan = 'FREE', scopes = ['READ', 'WRITE'], perMinute, perDay, expiresAt, sharesQuotaOf } = key ?? {};
  const fields = html`
    ${field('Name', html`<input name="name" required maxlength="255" value="${name}" autocomplete="off">`)}
    ${!key && field('Shares the quota of (key id; empty: none)', SHARED)}
    ${
      !sharesQuotaOf &&
      html`<div class="stack" id="quota">
      ${field(
        'Plan',
        html`<select name="plan" id="key-plan">
          ${PLANS.map((each) => html`<option ${each === plan && 'selected'}>${each}</option>`)}
        </select>`,
      )}
      <div class="row" id="limits">
        ${field('Requests per minute', limitInput('perMinute', perMinute))}
        ${field('Requests per day', limitInput('perDay', perDay))}
      </div>
    </div>`
    }
    <fieldset class="row"><legend>Scopes</legend>
      ${SCOPES.map((scope) => {
        const checked = scopes.includes(scope) && 'checked';
        return html`<label><input type="checkbox" name="scopes" value="${scope}" ${checked}> ${scope.toLowerCase()}</label>`;
      })}
    </fieldset>
    ${field(
      'Expires (UTC; empty: never)',
      html`<input name="expiresAt" type="datetime-local" value="${minuteOf(expiresAt)}">`,
    )}`;
  const words = key ? { title: `Change ${key.name}`, submit: 'Change' } : { title: 'Create a key', submit: 'Create' };
  showForm({ ...words, fields }, (data) => {
    // The field has no seconds, so an expiry that the user has not changed is left out.
    const isSame = key && data.get('expiresAt') === minuteOf(expiresAt);
    const { expiresAt: chosen, ...input } = inputOf(data);
    return run(isSame ? input : { ...input, expiresAt: chosen });
  });
  if (sharesQuotaOf) return;
  const select = /** @type {HTMLSelectElement} */ (byId('key-plan'));
  const shared = /** @type {HTMLInputElement | null} */ (byId('key-shares'));
  const showQuota = () => {
    byId('quota').hidden = Boolean(shared?.value.trim());
    byId('limits').hidden = select.value !== 'ENTERPRISE';
  };
  select.addEventListener('change', showQuota);
  shared?.addEventListener('input', showQuota);
  showQuota();
}

const SHARED = html`<input name="sharesQuotaOf" id="key-shares" maxlength="12" autocomplete="off" spellcheck="false">`;

/** The value of a field for a date and time, in UTC. @param {string | null | undefined} time */
const minuteOf = (time) => time?.slice(0, 16) ?? '';

/** @param {FormData} data */
function inputOf(data) {
  const isEnterprise = data.get('plan') === 'ENTERPRISE';
  /** @param {string} name */
  const limit = (name) => (isEnterprise && data.get(name) ? Number(data.get(name)) : null);
  const expiresAt = String(data.get('expiresAt') ?? '');
  const sharesQuotaOf = String(data.get('sharesQuotaOf') ?? '').trim();
  const quota = { plan: data.get('plan'), perMinute: limit('perMinute'), perDay: limit('perDay') };
  return {
    name: data.get('name'),
    ...(sharesQuotaOf ? { sharesQuotaOf } : data.has('plan') && quota),
    scopes: data.getAll('scopes'),
    expiresAt: expiresAt ? new Date(`${expiresAt}Z`).toISOString() : null,
  };
}

/** @param {Key} key @param {(graceSeconds: number) => Promise<void>} run */
export function showRotation(key, run) {
  const options = GRACE.map(([value, label]) => html`<option value="${value}">${label}</option>`);
  const fields = field('The old secret still works for', html`<select name="graceSeconds">${options}</select>`);
  const text = 'The key gets a new secret, which is shown once. The key keeps its id, plan and quota.';
  showForm({ title: `Rotate ${key.name}`, text, fields, submit: 'Rotate' }, (data) =>
    run(Number(data.get('graceSeconds'))),
  );
}

/** @param {Key} key @param {() => Promise<void>} run */
export function showRevocation(key, run) {
  const text = `All requests with the key ${key.id} will be rejected. The key cannot be restored.`;
  showForm({ title: `Revoke ${key.name}?`, text, submit: 'Revoke', look: 'danger' }, run);
}

/** @param {(caller: string) => Promise<void>} run */
export function showUnban(run) {
  const text = 'Anonymous callers are banned by address. An IPv6 address is banned with its network (/64).';
  const input = html`<input name="caller" required maxlength="64" autocomplete="off" spellcheck="false">`;
  showForm({ title: 'Lift a ban', text, fields: field('Address, key id or user id', input), submit: 'Lift' }, (data) =>
    run(String(data.get('caller')).trim()),
  );
}

/** Says how long the old secret of a rotated key works. @param {number} graceSeconds */
export const graceNote = (graceSeconds) =>
  graceSeconds
    ? `The old secret works until ${momentOf(Date.now() + graceSeconds * 1000)}.`
    : 'The old secret no longer works.';

/**
 * Shows a full key, which cannot be shown again.
 * @param {string} title
 * @param {string} secret the full key
 * @param {string} [note]
 */
export function showSecret(title, secret, note) {
  open(html`<div class="stack">
    <h2 id="dialog-title">${title}</h2>
    <p class="soft">This is the full key. It is shown only once and is not stored: keep it safe. ${note}</p>
    <p class="secret row"><code id="secret">${secret}</code></p>
    <p class="row end"><button type="button" class="button primary" value="close" autofocus>I have saved the key</button></p>
  </div>`);
  byId('secret').after(copyButton(() => secret, 'Copy the key'));
}
