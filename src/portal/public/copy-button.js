// @ts-check
const SHOWN_MS = 2000;

/**
 * Creates a button that copies a text.
 * @param {() => string} text
 * @param {string} [label]
 */
export function copyButton(text, label = 'Copy') {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = label;
  button.addEventListener('click', async () => {
    button.textContent = (await copy(text(), button)) ? 'Copied' : 'Not allowed';
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
  return button;
}

/**
 * Copies a text. `navigator.clipboard` exists only with HTTPS or on localhost, so there is a fallback.
 * @param {string} text
 * @param {HTMLElement} button
 * @returns {Promise<boolean>} whether the text was copied
 */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text, button);
  }
}

/**
 * Copies a text from a temporary text field. The field is inserted next to the button, since elements outside an open dialog
 * cannot get the focus.
 * @param {string} text
 * @param {HTMLElement} button
 */
function copyFromField(text, button) {
  const field = document.createElement('textarea');
  field.className = 'copied';
  field.value = text;
  button.after(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  button.focus();
  return isCopied;
}
