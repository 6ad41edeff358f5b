// @ts-check
const SHOWN_MS = 2000;

/**
 * A button that copies a text.
 * @param {() => string} text
 * @param {string} [label] what it is called
 */
export function copyButton(text, label = 'Copy') {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = label;
  button.addEventListener('click', async () => {
    button.textContent = (await copied(text(), button)) ? 'Copied' : 'Not allowed';
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
  return button;
}

/** The clipboard is there only on HTTPS and on this machine. @param {string} text @param {HTMLElement} button */
async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromField(text, button);
  }
}

/** Copies as a user would: from a field, beside the button, since what is outside of an open dialog takes no focus. @param {string} text @param {HTMLElement} button */
function copiedFromField(text, button) {
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
