/** The largest `integer` and `bigint` of PostgreSQL. */
export const MAX_INT32 = 2147483647;
export const MAX_INT64 = 9223372036854775807n;
