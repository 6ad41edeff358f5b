import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedSchema } from './schema/printed-schema';

writeFileSync(join(__dirname, '..', 'schema.graphql'), printedSchema());
