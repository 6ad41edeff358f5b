import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsAsMarkdown } from './pages/reference/error-reference';
import { printedOpenApi } from './rest/openapi/printed-openapi';
import { printedSchema } from './schema/printed-schema';

const PROJECT = join(__dirname, '..');

writeFileSync(join(PROJECT, 'schema.graphql'), printedSchema());
writeFileSync(join(PROJECT, 'docs', 'openapi.yaml'), printedOpenApi());
writeFileSync(join(PROJECT, 'docs', 'errors.md'), errorsAsMarkdown());
