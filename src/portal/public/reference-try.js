// @ts-check
import { call } from './gateway.js';
import { currentKey, keyChanges } from './key.js';

/**
 * @typedef {{ method: string, url: string, headers: Record<string, string>, body: string | undefined }} Prepared a
 *   request, without the key
 */

/** Sends each form's operation, and shows it as a command for curl. */
export function prepareForms() {
  const forms = /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll('.try form'));
  for (const form of forms) {
    const part = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (form.querySelector(selector));
    const command = /** @type {HTMLElement} */ (form.closest('.entry')?.querySelector('.curl'));
    const describe = () => {
      command.textContent = curlOf(requestOf(form));
    };
    form.addEventListener('input', describe);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { url, ...options } = requestOf(form);
      const status = part('output');
      const answer = part('.answer');
      const started = performance.now();
      status.dataset.state = '';
      status.textContent = 'Sending…';
      try {
        const response = await call(url, options);
        const took = Math.max(1, Math.round(performance.now() - started));
        const { headers } = response;
        status.textContent = `${response.status} in ${took} ms · ${headers.get('x-ratelimit-remaining')} left`;
        status.dataset.state = response.ok ? 'ok' : 'down';
        part('.received').hidden = false;
        part('.received pre').textContent = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
        answer.textContent = indented(await response.text());
        answer.hidden = !answer.textContent;
      } catch {
        status.textContent = 'No response.';
        status.dataset.state = 'down';
      }
    });
    describe();
    keyChanges.addEventListener('change', describe);
  }
}

/**
 * @param {HTMLFormElement} form
 * @returns {Prepared}
 */
function requestOf(form) {
  let path = form.dataset.path ?? '';
  const query = new URLSearchParams();
  /** @type {Record<string, string>} */
  const headers = {};
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll('[data-in]'));
  for (const { name, value, dataset, placeholder } of inputs) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (!value) continue;
    else if (dataset.in === 'header') headers[name] = value;
    else if (placeholder) for (const each of value.split(',')) query.append(name, each.trim());
    else query.append(name, value);
  }
  const body = form.querySelector('textarea')?.value;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return { method: form.dataset.method ?? 'GET', url: query.size ? `${path}?${query}` : path, headers, body };
}

/** @param {Prepared} request */
function curlOf({ method, url, headers, body }) {
  const key = currentKey() ? ['X-API-Key: $PETSTORE_API_KEY'] : [];
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + url)}`,
    ...key.map((header) => `-H "${header}"`),
    ...given.map((header) => `-H ${quoted(header)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body.replace(/\n\s*/g, ' '))}`]),
  ].join(' \\\n  ');
}

/** @param {string} text an argument of a shell command */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * JSON with indentation. Numbers stay as they are sent where the browser can do that, since ids have 64 bits.
 * @param {string} text
 */
function indented(text) {
  try {
    const { rawJSON } = /** @type {any} */ (JSON);
    /** @type {any} */
    const exact = (/** @type {string} */ _name, /** @type {unknown} */ value, /** @type {any} */ context) =>
      typeof value === 'number' && rawJSON && context ? rawJSON(context.source) : value;
    return JSON.stringify(JSON.parse(text, exact), null, 2);
  } catch {
    return text;
  }
}
