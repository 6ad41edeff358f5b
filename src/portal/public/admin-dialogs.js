// @ts-check
import { copyButton } from './copy-button.js';
import { byId, make } from './elements.js';

/** @typedef {import('./admin-api.js').Key} Key */

const PLANS = ['FREE', 'PRO', 'BUSINESS', 'ENTERPRISE'];
const SCOPES = ['READ', 'WRITE', 'ADMIN'];
const dialog = /** @type {HTMLDialogElement} */ (byId('dialog'));
// A secret must not stay in the page.
dialog.addEventListener('close', () => {
  if (!dialog.open) dialog.replaceChildren();
});
// Nor may it be lost by a key press. Browsers let `cancel` refuse only a first Esc.
const keepSecret = (/** @type {Event} */ event) => byId('secret') && event.preventDefault();
addEventListener('keydown', (event) => event.key === 'Escape' && keepSecret(event));
dialog.addEventListener('cancel', keepSecret);

/**
 * Shows a form, which is closed when what it does has worked.
 * @param {{ title: string, text?: string, fields?: Node[], submit: string, look?: string }} form
 * @param {(data: FormData) => Promise<void>} run rejects with what is wrong
 */
function showForm({ title, text, fields = [], submit, look = '' }, run) {
  const problem = make('p', { class: 'problem', role: 'alert' });
  const button = make('button', { type: 'submit', class: `button ${look}` }, submit);
  const form = make(
    'form',
    { method: 'dialog' },
    make('h2', { id: 'dialog-title' }, title),
    text !== undefined && make('p', { class: 'soft' }, text),
    ...fields,
    problem,
    make(
      'div',
      { class: 'dialog-actions' },
      make('button', { type: 'button', class: 'button quiet', click: () => dialog.close() }, 'Cancel'),
      button,
    ),
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    button.disabled = true;
    try {
      await run(new FormData(form));
      if (form.isConnected) dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    button.disabled = false;
  });
  open(form);
}

/** @param {Node} content */
function open(content) {
  dialog.replaceChildren(content);
  if (!dialog.open) dialog.showModal();
}

/**
 * Asks for the fields of a key.
 * @param {Key | undefined} key the one to change; a new one without it
 * @param {(input: Record<string, unknown>) => Promise<void>} run
 */
export function showKeyForm(key, run) {
  const plan = make(
    'select',
    { name: 'plan' },
    ...PLANS.map((each) => make('option', { value: each, selected: each === (key?.plan ?? 'FREE') }, each)),
  );
  const limits = make(
    'div',
    { class: 'row' },
    field('Requests per minute', number('perMinute', key?.perMinute)),
    field('Requests per day', number('perDay', key?.perDay)),
  );
  const showLimits = () => {
    limits.hidden = plan.value !== 'ENTERPRISE';
  };
  plan.addEventListener('change', showLimits);
  showLimits();
  const scopes = make(
    'fieldset',
    {},
    make('legend', {}, 'Scopes'),
    ...SCOPES.map((scope) => {
      const checked = (key?.scopes ?? ['READ', 'WRITE']).includes(scope);
      return make(
        'label',
        { class: 'choice' },
        make('input', { type: 'checkbox', name: 'scopes', value: scope, checked }),
        scope.toLowerCase(),
      );
    }),
  );
  const fields = [
    field(
      'Name',
      make('input', { name: 'name', required: true, maxlength: 255, value: key?.name, autocomplete: 'off' }),
    ),
    field('Plan', plan),
    limits,
    scopes,
    field(
      'Expires (UTC; empty: never)',
      make('input', { name: 'expiresAt', type: 'datetime-local', value: key?.expiresAt?.slice(0, 16) }),
    ),
  ];
  const words = key ? { title: `Change ${key.name}`, submit: 'Change' } : { title: 'Create a key', submit: 'Create' };
  showForm({ ...words, fields }, (data) => run(inputOf(data)));
}

/** @param {FormData} data */
function inputOf(data) {
  const isEnterprise = data.get('plan') === 'ENTERPRISE';
  /** @param {string} name */
  const limit = (name) => (isEnterprise && data.get(name) ? Number(data.get(name)) : null);
  const expiresAt = String(data.get('expiresAt') ?? '');
  return {
    name: data.get('name'),
    plan: data.get('plan'),
    scopes: data.getAll('scopes'),
    perMinute: limit('perMinute'),
    perDay: limit('perDay'),
    expiresAt: expiresAt ? new Date(`${expiresAt}Z`).toISOString() : null,
  };
}

/** @param {Key} key @param {(graceSeconds: number) => Promise<void>} run */
export function showRotation(key, run) {
  const choices = [
    ['86400', '24 hours'],
    ['3600', 'one hour'],
    ['604800', '7 days'],
    ['0', 'not at all: it has leaked'],
  ];
  const grace = make(
    'select',
    { name: 'grace' },
    ...choices.map(([value, label = '']) => make('option', { value }, label)),
  );
  const text = 'The key gets a new secret, which is shown once. Its id, plan and quota stay.';
  showForm(
    { title: `Rotate ${key.name}`, text, fields: [field('The old secret still works for', grace)], submit: 'Rotate' },
    (data) => run(Number(data.get('grace'))),
  );
}

/** @param {Key} key @param {() => Promise<void>} run */
export function showRevocation(key, run) {
  const text = `Every request with this key (${key.id}) is refused from then on. This cannot be undone.`;
  showForm({ title: `Revoke ${key.name}?`, text, submit: 'Revoke', look: 'danger' }, run);
}

/** @param {(caller: string) => Promise<void>} run */
export function showUnban(run) {
  const caller = make('input', {
    name: 'caller',
    required: true,
    maxlength: 64,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const text = 'Anonymous callers are banned by their address, an IPv6 one with its network (/64).';
  showForm({ title: 'Lift a ban', text, fields: [field('Address or key id', caller)], submit: 'Lift' }, (data) =>
    run(String(data.get('caller')).trim()),
  );
}

/** Shows a whole key, this once. @param {string} title @param {string} secret */
export function showSecret(title, secret) {
  const done = make('button', { type: 'button', class: 'button', click: () => dialog.close() }, 'I have kept it');
  open(
    make(
      'div',
      {},
      make('h2', { id: 'dialog-title' }, title),
      make('p', { class: 'soft' }, 'This is the whole key. It is shown only now, and stored nowhere: keep it safe.'),
      make(
        'div',
        { class: 'secret' },
        make('code', { id: 'secret' }, secret),
        copyButton(() => secret, 'Copy the key'),
      ),
      make('div', { class: 'dialog-actions' }, done),
    ),
  );
  done.focus();
}

/** @param {string} label @param {HTMLElement} input */
function field(label, input) {
  return make('label', { class: 'field' }, make('span', {}, label), input);
}

/** @param {string} name @param {number | null | undefined} value */
function number(name, value) {
  return make('input', { name, type: 'number', min: 1, max: 2147483647, step: 1, value: value ?? undefined });
}
