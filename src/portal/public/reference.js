// @ts-check
import './key-field.js';
import { filterEntries } from './reference-filter.js';
import { prepareForms } from './reference-try.js';

filterEntries();
prepareForms();
