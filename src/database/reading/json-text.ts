/** JSON that is copied into responses unchanged, such as JSON that PostgreSQL has written. */
export class JsonText {
  constructor(readonly text: string) {}

  /** For code that serializes with JSON.stringify. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}
