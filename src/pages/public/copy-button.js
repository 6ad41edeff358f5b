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
    button.textContent = (await copied(text())) ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => {
      button.textContent = label;
    }, SHOWN_MS);
  });
  return button;
}

/** The clipboard is there only on HTTPS and on this machine. @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
