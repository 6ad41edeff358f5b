/** The names that are no settings but look like one, each with the setting that was probably meant. @param known all settings. */
export function misspellings(names: readonly string[], known: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of names.filter((each) => !known.includes(each))) {
    const distances = known.map((meant) => ({ meant, distance: distanceOf(name.toUpperCase(), meant) }));
    const [near] = distances.sort((a, b) => a.distance - b.distance);
    if (near && near.distance <= Math.max(1, Math.floor(near.meant.length / 4))) found.set(name, near.meant);
  }
  return found;
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
