// @ts-check
/** Marks the page that is shown in the links that all pages have. */
document.querySelector(`.site a[href="${location.pathname}"]`)?.setAttribute('aria-current', 'page');
