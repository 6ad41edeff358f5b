import type { Catalogue } from '../../errors/codes';
import { INT32 } from '../scalar-formats';
import { arrayOf, MAX_TEXT, REQUEST_EXAMPLE, REQUEST_ID, type Schema } from './values';

/** The `Error` object of the specification (section 7), with what the contract adds. */
export const errorSchemas = (catalogue: Catalogue): Readonly<Record<'Error' | 'ErrorDetail', Schema>> => ({
  Error: {
    type: 'object',
    description: 'Why a request was refused, or what failed.',
    required: ['code', 'message', 'status'],
    properties: {
      code: {
        type: 'string',
        enum: [...catalogue.keys()],
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
        description: 'The id of the request, as in `X-Request-Id`; in a replayed response, that of the first request',
        example: REQUEST_EXAMPLE,
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
});
