// @ts-check
import { copyButton } from './copy-button.js';
import { buttonOf } from './elements.js';
import { openSearch } from './guide-search.js';
import { nameThisServer } from './this-server.js';

nameThisServer();
for (const pre of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('pre.code'))) {
  const block = document.createElement('div');
  block.className = 'code-block';
  pre.replaceWith(block);
  block.append(
    pre,
    copyButton(() => commandsOf(pre)),
  );
}

const menu = /** @type {HTMLDetailsElement} */ (document.getElementById('menu'));
const isWide = matchMedia('(min-width: 56.01rem)');
const showMenu = () => {
  menu.open = isWide.matches;
};
isWide.addEventListener('change', showMenu);
showMenu();
if (isWide.matches) menu.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

const button = buttonOf('search-button');
button.hidden = false;
button.addEventListener('click', openSearch);
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select');
  const isShortcut = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.metaKey || event.ctrlKey));
  if (!isShortcut) return;
  event.preventDefault();
  openSearch();
});

/**
 * The text to copy from a code block. Lines of shell code that begin with `#` are omitted, since they show output.
 * @param {HTMLElement} pre
 */
function commandsOf(pre) {
  const text = pre.textContent ?? '';
  return pre.dataset.language === 'sh' ? text.replace(/^#.*\n/gm, '') : text;
}
