import type { PrismaClient } from '../../../src/database/generated/client';

export interface Context {
  prisma: PrismaClient;
}
