import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedSchema } from './graphql/print-schema';

writeFileSync(join(__dirname, '..', 'schema.graphql'), printedSchema());
