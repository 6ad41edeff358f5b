// @ts-check
import './site.js';
import { copyButton } from './copy-button.js';
import { openSearch } from './guide-search.js';
import { nameThisServer } from './this-server.js';

nameThisServer();
for (const pre of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('pre.code'))) addCopyButton(pre);

const menu = /** @type {HTMLDetailsElement} */ (document.getElementById('menu'));
const isWide = matchMedia('(min-width: 56.01rem)');
const showMenu = () => {
  menu.open = isWide.matches;
};
isWide.addEventListener('change', showMenu);
showMenu();
if (isWide.matches) menu.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

const button = /** @type {HTMLButtonElement} */ (document.getElementById('search-button'));
button.hidden = false;
button.addEventListener('click', openSearch);
addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]');
  const isShortcut = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.metaKey || event.ctrlKey));
  if (!isShortcut) return;
  event.preventDefault();
  openSearch();
});

/** @param {HTMLElement} pre */
function addCopyButton(pre) {
  const block = document.createElement('div');
  block.className = 'code-block';
  pre.replaceWith(block);
  block.append(
    pre,
    copyButton(() => commandsOf(pre)),
  );
}

/**
 * The code of a block; of shell commands without the lines that show their output.
 * @param {HTMLElement} pre
 */
function commandsOf(pre) {
  const text = pre.textContent ?? '';
  return pre.dataset.language === 'sh' ? text.replace(/^#.*\n/gm, '') : text;
}
