// @ts-check
import { ApiError } from './admin-api.js';

/** The names of values that no form has a field for. @type {Record<string, string>} */
const OTHERS = { id: 'Key' };

/**
 * Describes an error, with the labels of the form's fields instead of the names that the API has for them. Marks the fields
 * with faults as invalid.
 * @param {unknown} error @param {HTMLFormElement} form the form whose values the API rejected
 * @returns {string} a text for the user
 */
export function describeError(error, form) {
  for (const field of fields(form)) field.removeAttribute('aria-invalid');
  const { message, faults } = error instanceof ApiError ? error : { message: String(error), faults: [] };
  if (!faults.length) return message;
  const texts = faults.map((fault) => {
    // A path such as `input.scopes.0` leads to the field `scopes`.
    const name = fault.path.replace(/^input\./, '').replace(/\..*/, '');
    const field = fields(form).find((each) => each.name === name);
    field?.setAttribute('aria-invalid', 'true');
    return `${field ? labelOf(field) : (OTHERS[name] ?? name)}: ${fault.message}`;
  });
  return texts.join('; ');
}

/** @param {HTMLFormElement} form */
export const firstInvalid = (form) => fields(form).find((field) => field.ariaInvalid === 'true');

/** @param {HTMLFormElement} form @returns {HTMLInputElement[]} */
const fields = (form) =>
  [...form.querySelectorAll(':is(input, select)[name]')].map((each) => /** @type {any} */ (each));

/** @param {HTMLInputElement} field */
function labelOf(field) {
  const named = field.closest('fieldset')?.querySelector('legend') ?? field.labels?.[0]?.querySelector('span');
  return named?.textContent ?? field.ariaLabel ?? field.name;
}
