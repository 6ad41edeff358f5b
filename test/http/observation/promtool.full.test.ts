import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findProgram } from '../../helper/programs';

const MONITORING = join(__dirname, '../../../docs/monitoring');
const PROMTOOL = findProgram('promtool', ['/usr/bin/promtool', '/usr/local/bin/promtool']) ?? '';
const withPromtool = PROMTOOL ? test : test.skip;

withPromtool.each([
  ['check', 'alerts.yml'],
  ['test', 'alerts.test.yml'],
])('promtool accepts the alert rules: %s %s', (command, file) => {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, [command, 'rules', join(MONITORING, file)], {
    encoding: 'utf8',
  });
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
});
