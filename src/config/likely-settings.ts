/** A name that was probably meant to be a setting. */
export interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/** The names that are no settings but look like one. @param known all settings. */
export function misspellings(names: readonly string[], known: readonly string[]): Misspelling[] {
  return names
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const near = known
        .map((meant) => ({ name, meant, distance: distanceOf(name.toUpperCase(), meant) }))
        .sort((a, b) => a.distance - b.distance)[0];
      return near && near.distance <= Math.max(1, Math.floor(near.meant.length / 4)) ? [near] : [];
    })
    .map(({ name, meant }) => ({ name, meant }));
}

/** How many letters must be changed, added or left out to turn one text into the other (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries())
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row[to.length] ?? 0;
}
