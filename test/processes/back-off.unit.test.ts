import { BackOff } from '../../src/processes/back-off';

test('the wait doubles with each quick exit, up to half a minute', () => {
  const backOff = new BackOff();
  const waits = Array.from({ length: 12 }, () => backOff.after(500));
  expect(waits.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(waits.slice(-2)).toEqual([30_000, 30_000]);
});

test('what has lived for a minute is restarted soon', () => {
  const backOff = new BackOff();
  for (let i = 0; i < 12; i++) backOff.after(500);
  expect([backOff.after(60_000), backOff.after(500)]).toEqual([100, 200]);
});
