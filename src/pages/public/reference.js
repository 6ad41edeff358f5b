// @ts-check
import './key-field.js';
import { filterEntries } from './reference-filter.js';
import { prepareForms } from './reference-try.js';

const contents = document.querySelector('details.contents');
if (contents && !matchMedia('(min-width: 60rem)').matches) contents.removeAttribute('open');
for (const link of document.querySelectorAll('.top nav a'))
  if (link.getAttribute('href') === location.pathname) link.setAttribute('aria-current', 'page');
filterEntries();
prepareForms();
