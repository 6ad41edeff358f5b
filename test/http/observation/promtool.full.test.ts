import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MONITORING = join(__dirname, '../../../docs/monitoring');
const withPromtool = spawnSync('promtool', ['--version']).status === 0 ? test : test.skip;

withPromtool.each([
  ['check', 'alerts.yml'],
  ['test', 'alerts.test.yml'],
])('promtool accepts the alert rules: %s %s', (command, file) => {
  const { status, stdout, stderr } = spawnSync('promtool', [command, 'rules', join(MONITORING, file)], {
    encoding: 'utf8',
  });
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
});
