import { Router } from 'express';
import type { Pet, PrismaClient } from '../../../src/database/generated/client';

/** The REST routes of the server `usual`. JSON has no bigint, so ids become numbers. */
export function petRoutes(prisma: PrismaClient): Router {
  const routes = Router();

  routes.get('/:id', async (request, response) => {
    const row = await prisma.pet.findUnique({ where: { id: BigInt(request.params.id) } });
    if (row) response.json(petOf(row));
    else response.status(404).json({ code: 'NOT_FOUND', message: 'No such pet', status: 404 });
  });

  routes.get('/', async (request, response) => {
    const rows = await prisma.pet.findMany({
      orderBy: { id: 'asc' },
      take: Number(request.query.limit ?? 20),
    });
    response.json(rows.map(petOf));
  });

  routes.post('/', async (request, response) => {
    const { name, categoryId, status } = request.body;
    const row = await prisma.pet.create({ data: { name, categoryId: BigInt(categoryId), status } });
    response.status(201).location(`/pets/${row.id}`).json(petOf(row));
  });

  return routes;
}

/** The fields of the specification. */
function petOf({ id, name, status, categoryId }: Pet) {
  return { id: Number(id), name, status, categoryId: Number(categoryId) };
}
