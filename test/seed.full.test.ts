import { rmSync } from 'node:fs';
import { runTypeScript } from './helper/child';
import { createDatabase, TEST_DATABASE_URL } from './helper/database';
import { makeDirectory } from './helper/installation';

let directory: string;
let created: { url?: string; drop(): Promise<void> } | undefined;
beforeAll(async () => {
  directory = makeDirectory();
  created = TEST_DATABASE_URL ? await createDatabase() : undefined;
});
afterAll(async () => {
  await created?.drop();
  rmSync(directory, { recursive: true });
});
const seed = (DATABASE_URL: string, ...args: string[]) =>
  runTypeScript('src/app/seed.ts', args, { DATA_DIR: directory, DATABASE_URL }).end();

/** Where sample data is loaded: `DATABASE_URL`. */
const places: [string, () => string][] = [['a new data directory', () => '']];
if (TEST_DATABASE_URL) places.push(['a database of a server', () => created?.url ?? '']);

describe('npm run seed', () => {
  test.each(places)('fills %s; a second run is refused', async (_where, url) => {
    const { code, lines, stderr } = await seed(url(), '--pets', '40');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines).toEqual([expect.stringMatching(/^Added to .*PostgreSQL .* pets 40, /)]);
    expect(await seed(url())).toEqual({
      code: 1,
      lines: [],
      stderr: 'seed: the database is not empty; sample data can only be loaded into an empty one.\n',
    });
  });

  test.each([
    [['--pets', '1000001'], 'seed: --pets must be an integer from 1 to 1000000, not "1000001"\n'],
    [['--pets'], expect.stringMatching(/^seed: .*--pets.*\n$/)],
    [['many'], expect.stringMatching(/^seed: .*many.*\n$/)],
  ])('refuses %j in one line', async (args, stderr) => {
    expect(await seed('', ...args)).toEqual({ code: 1, lines: [], stderr });
  });
});
