// @ts-check
/** Shows only the entries that have all words of the filter. */
export function filterEntries() {
  const input = /** @type {HTMLInputElement | null} */ (document.querySelector('#filter'));
  if (!input) return;
  const links = new Map(
    [...document.querySelectorAll('.listed > ul > li')].map((item) => [item.querySelector('a')?.hash.slice(1), item]),
  );
  const entries = [...document.querySelectorAll('.entry')].map((entry) => ({
    entry: /** @type {HTMLElement} */ (entry),
    link: /** @type {HTMLElement | undefined} */ (links.get(encodeURI(entry.id))),
    text: `${entry.id} ${entry.textContent}`.toLowerCase(),
  }));
  const found = /** @type {HTMLElement} */ (document.querySelector('#found'));

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { entry, link, text } of entries) {
      const isShown = words.every((word) => text.includes(word));
      entry.hidden = !isShown;
      if (link) link.hidden = !isShown;
      if (isShown) count++;
    }
    for (const part of document.querySelectorAll('.part, .listed'))
      part.toggleAttribute('hidden', !part.querySelector(':is(.entry, li):not([hidden])'));
    found.textContent = words.length ? `${count} of ${entries.length}` : '';
  };
  const showAll = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest('[hidden]')) return;
    input.value = '';
    show();
    target.scrollIntoView();
  };
  input.addEventListener('input', show);
  addEventListener('hashchange', showAll);
  input.closest('.filter')?.removeAttribute('hidden');
}
