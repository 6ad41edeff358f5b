/** The variables of an operation as they came. */
export type Variables = Readonly<Record<string, unknown>>;
