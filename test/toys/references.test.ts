import { Ctx, Field, InputType, Mutation, Resolver } from 'type-graphql';
import type { Services } from '../../src/app/domains';
import { foreignKeyOf } from '../../src/database/failures';
import { statement } from '../../src/database/statement';
import { convertForeignKeys, unknownReference } from '../../src/errors/errors';
import type { Context } from '../../src/graphql/context';
import { Errors, Input, nullable, RateLimited, RequiresScope } from '../../src/graphql/directives';
import { Id } from '../../src/graphql/scalars';
import { createDatabase } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';
import { CREATE_BOXES } from './boxes';
import { CREATE_TABLE, Toy, toyDomains } from './toys';

// A toy refers to its box, its maker and its shop. The service knows the foreign keys of the box and the maker.

@InputType({ description: 'A toy with references.' })
class MadeToy {
  @Field(() => Id, nullable('Its box.'))
  boxId?: bigint | null;

  @Field(() => Id, nullable('Its maker.'))
  makerId?: bigint | null;

  @Field(() => Id, nullable('Its shop.'))
  shopId?: bigint | null;
}

const INSERT = statement(
  "insert into toys (name, box_id, maker_id, shop_id) values ('Top', $1, $2, $3) returning id, name",
);

@Resolver()
class Makers {
  @RateLimited()
  @RequiresScope('WRITE')
  @Errors('UNKNOWN_REFERENCE')
  @Mutation(() => Toy, nullable('Adds a toy.'))
  async makeToy(@Input(MadeToy) { boxId, makerId, shopId }: MadeToy, @Ctx() { session }: Context) {
    const written = session.write<object>(INSERT, [boxId ?? null, makerId ?? null, shopId ?? null]);
    const [toy] = await convertForeignKeys(written, {
      [foreignKeyOf({ sql: 'toys.box_id' })]: () => unknownReference('input.boxId', 'Box', boxId as bigint),
      [foreignKeyOf({ sql: 'toys.maker_id' })]: () => unknownReference('input.makerId', 'Maker', makerId as bigint),
    });
    return toy;
  }
}

const domainsOf = (access: Services) => {
  const domains = toyDomains(access);
  return { ...domains, resolvers: [...domains.resolvers, new Makers()] };
};

let gateway: Gateway;
beforeAll(async () => {
  const { database, drop } = await createDatabase();
  for (const text of [
    CREATE_BOXES.text,
    'create table makers (id bigint primary key)',
    'create table shops (id bigint primary key)',
    CREATE_TABLE.text,
    'alter table toys add column maker_id bigint references makers, add column shop_id bigint references shops',
    "insert into boxes (name) values ('Wheels')",
    'insert into makers values (1)',
  ])
    await database.serviceSession().query(statement(text), []);
  const remove = async () => {
    await database.serviceSession().query(statement('drop table toys, boxes, makers, shops'), []);
    await drop();
  };
  gateway = await startGateway({}, Date.now, { database, drop: remove }, domainsOf as typeof toyDomains);
});
afterAll(() => gateway.close());

const make = async (input: object) => {
  const { errors } = await gateway.graphql('mutation ($input: MadeToy!) { makeToy(input: $input) { id } }', { input });
  return errors.map(({ message, extensions }) => ({ message, ...extensions }));
};

test.each([
  [{ boxId: 9, makerId: 1 }, 'input.boxId', 'Box 9 does not exist.'],
  [{ boxId: 1, makerId: 9 }, 'input.makerId', 'Maker 9 does not exist.'],
])('the error of a reference names the reference that is unknown: %j', async (input, path, message) => {
  expect(await make(input)).toMatchObject([{ message, code: 'UNKNOWN_REFERENCE', details: [{ path, message }] }]);
});

test('the violation of a foreign key that the service does not know is an internal error, not a wrong reference', async () => {
  expect(await make({ boxId: 1, makerId: 1, shopId: 9 })).toMatchObject([{ code: 'INTERNAL_SERVER_ERROR' }]);
  expect(await make({ boxId: 1, makerId: 1 })).toEqual([]);
});
