import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsGuide } from '../portal/errors-guide';
import { printedOpenApi, printedSchema } from './contract';
import { gatewayDomains } from './domains';

const PROJECT = join(__dirname, '..', '..');

writeFileSync(join(PROJECT, 'schema.graphql'), printedSchema());
writeFileSync(join(PROJECT, 'docs', 'openapi.yaml'), printedOpenApi());
writeFileSync(join(PROJECT, 'docs', 'errors.md'), errorsGuide(gatewayDomains().errors));
