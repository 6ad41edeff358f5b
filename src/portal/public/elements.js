// @ts-check
/** Trusted HTML: its values have been escaped. */
class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @param {unknown} value @returns {string} */
function textOf(value) {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (value === undefined || value === null || value === false) return '';
  return String(value).replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/**
 * Creates HTML from a template literal. Texts are escaped, and `Markup` is inserted as it is. Lists are joined. `false`,
 * `null` and `undefined` insert nothing.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export function html(strings, ...values) {
  return new Markup(String.raw({ raw: strings }, ...values.map(textOf)));
}

/** Replaces the contents of an element. @param {Element} element @param {Markup | Markup[]} content */
export function render(element, content) {
  element.innerHTML = textOf(content);
}

/** @param {string} id */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
export const inputOf = (id) => /** @type {HTMLInputElement} */ (byId(id));
/** @param {string} id */
export const buttonOf = (id) => /** @type {HTMLButtonElement} */ (byId(id));
