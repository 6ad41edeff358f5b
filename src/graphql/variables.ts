/** The variables of an operation as sent. */
export type Variables = Readonly<Record<string, unknown>>;
