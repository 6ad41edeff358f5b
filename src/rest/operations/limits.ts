import type { Definition } from '../operation';

export const get: Definition = {
  tag: 'Limits',
  summary: 'Ask where you stand',
  description: 'The plan whose quota is in force and what is left of it. Asking is free of quota.',
  document: `
    query getRateLimit {
      rateLimit { plan windows { name limit remaining resetAt } bannedUntil }
    }`,
};
