// @ts-check
/**
 * An element with attributes and contents. Texts are always texts: nothing that comes from a key is read as HTML.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | undefined | ((event: Event) => void)>} [attributes] functions listen to
 *   events of their name; what is false or undefined is left out
 * @param {...(Node | string | false | undefined)} contents
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(name, attributes = {}, ...contents) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(attribute, value);
    else if (value !== undefined && value !== false)
      element.setAttribute(attribute, value === true ? '' : String(value));
  }
  element.append(...contents.filter((each) => each !== false && each !== undefined));
  return element;
}

/** @param {string} id */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
