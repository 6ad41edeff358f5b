import { emptyDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => emptyDatabase(gateway.database));
afterAll(() => gateway.close());

const CREATE = 'mutation ($input: NewPet!) { createPet(input: $input) { id name status categoryId } }';

describe('createPet', () => {
  beforeEach(() => gateway.data('mutation { createCategory(input: { name: "Dogs" }) { id } }'));

  test('keeps the trimmed name and makes the pet available', async () => {
    const { createPet } = await gateway.data(CREATE, { input: { name: '  Rex ', categoryId: 1 } });
    expect(createPet).toEqual({ id: '1', name: 'Rex', status: 'available', categoryId: '1' });
  });

  test('refuses a category that does not exist, and creates nothing', async () => {
    const { status, errors } = await gateway.graphql(CREATE, {
      input: { name: 'Rex', categoryId: '9223372036854775807' },
    });
    expect(status).toBe(200);
    expect(errors[0]?.extensions).toMatchObject({
      code: 'UNKNOWN_REFERENCE',
      status: 422,
      details: [{ path: 'input.categoryId' }],
    });
    expect(await gateway.data('{ pets { totalCount } }')).toEqual({ pets: { totalCount: 0 } });
  });
});
