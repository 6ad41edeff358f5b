/** Waits until `condition` holds. @throws Error if it does not hold within `seconds`. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 15): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`The condition did not hold within ${seconds} seconds: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
