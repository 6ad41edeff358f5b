/** The options of a field or an argument that may be null. */
export function nullable(description: string) {
  return { nullable: true, description } as const;
}
