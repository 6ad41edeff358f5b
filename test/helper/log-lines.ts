import { LogOutput } from '../../src/http/log-output';

/** The log lines of gateways in this process, parsed, from the start of each test on. They are not printed. */
export function captureLog(): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  beforeEach(() => {
    jest.spyOn(LogOutput.prototype, 'write').mockImplementation((line) => void lines.push(JSON.parse(line)));
  });
  return lines;
}
