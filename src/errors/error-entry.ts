/** What one error code means. Texts are Markdown without blocks: `code` is the only markup in them. */
export interface ErrorEntry {
  /** The HTTP status. */
  readonly status: number;
  /** Why it comes. */
  readonly why: string;
  /** What a client should do. */
  readonly fix: string;
  /** An example of its message. */
  readonly message: string;
}
