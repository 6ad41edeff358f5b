// Fastify with node-postgres, and with JSON schemas for requests and responses.
import pg from 'pg';
import { application } from './app.mjs';
import { rows } from './pool.mjs';

const INT8 = 20;
pg.types.setTypeParser(INT8, BigInt);

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer', minimum: 1 },
    status,
  },
};
const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const problem = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
};

const PET = 'id, name, status, category_id as "categoryId"';

const app = await application();

app.get(
  '/pets/:id',
  {
    schema: {
      params: { type: 'object', properties: { id: { type: 'string', pattern: '^[1-9][0-9]{0,18}$' } } },
      response: { 200: pet, 404: problem },
    },
  },
  async (request, reply) => {
    const [found] = await rows('pet', `select ${PET} from pets where id = $1`, [request.params.id]);
    return found ?? reply.code(404).send({ code: 'NOT_FOUND', message: 'No such pet', status: 404 });
  },
);

app.get(
  '/pets',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
      },
      response: { 200: { type: 'array', items: pet } },
    },
  },
  (request) => rows('pets', `select ${PET} from pets order by id limit $1`, [request.query.limit]),
);

app.post('/pets', { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
  const { name, categoryId, status = 'available' } = request.body;
  const text = `insert into pets (name, category_id, status) values ($1, $2, $3) returning ${PET}`;
  const [created] = await rows('create-pet', text, [name, categoryId, status]);
  return reply.code(201).header('location', `/pets/${created.id}`).send(created);
});

process.once('SIGTERM', () => process.exit());
await app.listen({ host: process.env.HOST, port: Number(process.env.PORT) });
