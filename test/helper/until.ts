const FIRST_MS = 2;
const LONGEST_MS = 50;

/** Waits until `condition` holds. @throws Error if it does not hold within `seconds`. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 15): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (let pause = FIRST_MS; !(await condition()); pause = Math.min(pause * 1.2, LONGEST_MS)) {
    if (Date.now() > end) throw new Error(`The condition did not hold within ${seconds} seconds: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
