import { findProgram } from './programs';

const { CI } = process.env;
afterEach(() => {
  if (CI === undefined) delete process.env.CI;
  else process.env.CI = CI;
});

test('a missing browser or proxy fails the full suite with CI=true, and otherwise skips its tests', () => {
  const find = (...paths: (string | undefined)[]) => findProgram('HAProxy', paths);
  process.env.CI = 'true';
  expect(() => find(undefined, '/nowhere/haproxy')).toThrow('HAProxy is not installed, and CI skips no tests');
  expect(find('/nowhere/haproxy', process.execPath)).toBe(process.execPath);
  delete process.env.CI;
  expect(find('/nowhere/haproxy')).toBeUndefined();
});
