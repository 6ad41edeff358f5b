import type { Definition } from '../operation';

export const get: Definition = {
  tag: 'Limits',
  summary: 'Get the remaining quota',
  description: 'The plan in force and how much of its quota is left. This request costs no quota.',
  document: `
    query getRateLimit {
      rateLimit { plan windows { name limit remaining resetAt } bannedUntil }
    }`,
};
