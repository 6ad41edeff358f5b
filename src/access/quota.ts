import type { Definition } from '../rest/rest-operation';

export const get: Definition = {
  field: 'Query.rateLimit',
  summary: 'Get the remaining quota',
  description:
    'The plan in force and how much of its quota is left. This request costs no quota, and is answered during a ban.',
  payload: ['plan', 'windows', 'bannedUntil'],
};

export const usage: Definition = {
  field: 'Query.viewer.usage',
  summary: 'Get your usage by day',
  description:
    'What the API key of the request has used: one object for each of the last days in UTC, today last. Without a key the list is empty, since anonymous callers are counted together. This request costs no quota, and is answered during a ban.',
};
