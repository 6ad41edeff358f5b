import { arrayOf, INT32, MAX_TEXT, MOMENT, REQUEST_ID, type Schema } from './values';

const MINUTE = { name: 'minute', limit: 60, remaining: 57, resetAt: '2026-11-21T10:00:30.000Z' };
const DAY = { name: 'day', limit: 1000, remaining: 997, resetAt: '2026-11-22T09:59:30.000Z' };

/** Schemas of the service itself: a caller's remaining quota, and errors. */
export const SERVICE_SCHEMAS: Readonly<
  Record<'RateLimit' | 'RateLimitWindow' | 'Error' | 'ErrorDetail', Schema>
> = {
  RateLimit: {
    type: 'object',
    description: "The caller's plan and remaining quota.",
    example: { plan: 'FREE', windows: [MINUTE, DAY] },
    required: ['plan', 'windows'],
    properties: {
      plan: {
        type: 'string',
        enum: ['FREE', 'PRO', 'BUSINESS', 'ENTERPRISE'],
        description: 'The plan whose quota is in force',
        example: 'FREE',
      },
      windows: { ...arrayOf('RateLimitWindow', 2), minItems: 2, description: 'The minute and the day' },
      bannedUntil: {
        ...MOMENT,
        description: 'When the ban of this caller ends',
        example: '2026-11-21T10:01:00.000Z',
      },
    },
  },
  RateLimitWindow: {
    type: 'object',
    description: 'A window of a quota.',
    example: MINUTE,
    required: ['name', 'limit', 'remaining', 'resetAt'],
    properties: {
      name: { type: 'string', enum: ['minute', 'day'], description: 'Which window', example: 'minute' },
      limit: { ...INT32, minimum: 0, description: 'Requests allowed in the window', example: 60 },
      remaining: { ...INT32, minimum: 0, description: 'Requests left in the window', example: 57 },
      resetAt: {
        ...MOMENT,
        description: 'When the window ends',
        example: '2026-11-21T10:00:30.000Z',
      },
    },
  },
  Error: {
    type: 'object',
    description: 'Why a request was refused, or what failed.',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        pattern: '^[A-Z][A-Z_]+$',
        maxLength: 64,
        description: 'A machine-readable error code',
        example: 'BAD_USER_INPUT',
      },
      message: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'A human-readable description of the error',
        example: 'name: must not be empty',
      },
      status: {
        ...INT32,
        minimum: 400,
        maximum: 599,
        description: 'The HTTP status code',
        example: 400,
      },
      details: { ...arrayOf('ErrorDetail'), description: 'Each problem with the input' },
      requestId: {
        ...REQUEST_ID,
        description:
          'The id of the request, as in `X-Request-Id`; in a replayed response, that of the first request',
        example: '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11',
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    description: 'One problem with the input.',
    required: ['path', 'message'],
    properties: {
      path: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'The parameter or the field of the body',
        example: 'name',
      },
      message: {
        type: 'string',
        maxLength: MAX_TEXT,
        description: 'The rule that the value breaks',
        example: 'must not be empty',
      },
    },
  },
};
