import type { Definition } from '../rest-operation';

export const get: Definition = {
  field: 'Query.rateLimit',
  summary: 'Get the remaining quota',
  description:
    'The plan in force and how much of its quota is left. This request costs no quota, and is answered during a ban.',
  payload: ['plan', 'windows', 'bannedUntil'],
};
