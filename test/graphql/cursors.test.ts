import fc from 'fast-check';
import { encodeCursor } from '../../src/domain/cursor';
import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { LISTS, type List, queryOf, readPage } from '../helper/lists';
import { refusalOf } from '../helper/refusal';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('a cursor', () => {
  const [PETS] = LISTS as [List];
  const NAME = { orderBy: { field: 'NAME', direction: 'ASC' } };
  let cursor: string;
  beforeAll(async () => {
    await emptyDatabase(gateway.database);
    await gateway.data(`mutation {
      createCategory(input: { name: "Dogs" }) { id }
      cats: createCategory(input: { name: "Cats" }) { id }
      a: createPet(input: { name: "Réx 🐕", categoryId: 1 }) { id }
      b: createPet(input: { name: "Sam", categoryId: 1 }) { id }
      c: setInventory(petId: 1, input: { quantity: 1 }) { petId }
      d: placeOrder(input: {}) { id }
    }`);
    cursor = (await readPage(gateway, PETS, { ...NAME, first: 1 })).endCursor ?? '';
  });

  const expectRefused = async (list: List, args: object, wrong: string) => {
    for (const side of ['after', 'before']) {
      expect(await refusalOf(gateway, queryOf(list), { ...args, [side]: wrong })).toMatchObject({
        http: 200,
        code: 'BAD_USER_INPUT',
        status: 400,
        paths: [side],
      });
    }
  };

  test('that is intact is accepted', async () => {
    expect((await readPage(gateway, PETS, { ...NAME, after: cursor })).ids).toEqual([2]);
  });

  test('is refused with any byte changed', async () => {
    const bytes = Buffer.from(cursor, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      await expectRefused(PETS, NAME, changed.toString('base64url'));
    }
  });

  test('is refused with any character changed', async () => {
    for (let at = 0; at < cursor.length; at++) {
      const other = cursor[at] === 'A' ? 'B' : 'A';
      await expectRefused(PETS, NAME, cursor.slice(0, at) + other + cursor.slice(at + 1));
    }
  });

  test('is refused truncated at any point', async () => {
    for (let length = 0; length < cursor.length; length++) await expectRefused(PETS, NAME, cursor.slice(0, length));
  });

  test.each(['=', 'A', ' ', '\0', '\ud800'])('is refused with %j added', async (addition) => {
    await expectRefused(PETS, NAME, cursor + addition);
    await expectRefused(PETS, NAME, addition + cursor);
  });

  test('is refused by every other list and order', async () => {
    for (const list of LISTS) {
      for (const field of Object.keys(list.orders)) {
        for (const direction of ['ASC', 'DESC']) {
          if (list.orderType === 'PetSort' && field === 'NAME' && direction === 'ASC') continue;
          await expectRefused(list, { orderBy: { field, direction } }, cursor);
        }
      }
    }
  });

  test('is refused if it is not a cursor at all', async () => {
    const refused = async (text: string) => expectRefused(PETS, NAME, text);
    await fc.assert(fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String()), refused), {
      numRuns: 50,
    });
  });

  // The checksum is not secret: with it, one could forge sort keys that the database cannot read.
  test.each<[string, number, string, string, string]>([
    ['a non-numeric id', 0, 'ID', 'x', ''],
    ['an id beyond int64', 0, 'ID', '9223372036854775808', ''],
    ['a negative id', 0, 'ID', '-1', '-1'],
    ['an id that is SQL', 0, 'ID', "1')--", ''],
    ['a name with NUL', 0, 'NAME', '1', 'a\0'],
    ['an invalid date', 2, 'SHIP_DATE', '1', 'yesterday'],
    ['a date that does not exist', 2, 'SHIP_DATE', '1', '2026-02-30T00:00:00.000Z'],
    ['a date in the year 0', 2, 'SHIP_DATE', '1', '0000-01-01T00:00:00.000Z'],
    ['a date after the year 9999', 2, 'SHIP_DATE', '1', '+010000-01-01T00:00:00.000Z'],
    ['a quantity beyond int32', 5, 'QUANTITY', '1', '2147483648'],
    ['a non-numeric quantity', 5, 'QUANTITY', '1', 'NaN'],
  ])('is refused when forged with %s', async (_what, index, field, id, key) => {
    const list = LISTS[index] as List;
    for (const [direction, suffix] of [
      ['ASC', ''],
      ['DESC', ' desc'],
    ]) {
      const forged = encodeCursor(`${list.field} ${field}${suffix}`, { id, key });
      await expectRefused(list, { orderBy: { field, direction } }, forged);
    }
  });
});
