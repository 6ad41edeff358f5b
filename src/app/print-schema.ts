import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedSchema } from '../graphql/printed-schema';
import { errorsAsMarkdown } from '../portal/reference/error-reference';
import { printedOpenApi } from '../rest/openapi/printed-openapi';

const PROJECT = join(__dirname, '..', '..');

writeFileSync(join(PROJECT, 'schema.graphql'), printedSchema());
writeFileSync(join(PROJECT, 'docs', 'openapi.yaml'), printedOpenApi());
writeFileSync(join(PROJECT, 'docs', 'errors.md'), errorsAsMarkdown());
