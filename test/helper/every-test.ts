import { holdWhatWasHeard, listenIn, stopListening } from './connections';

// Jest loads this for every test file. It checks the responses on all connections against the OpenAPI document.
beforeAll(listenIn);
afterEach(holdWhatWasHeard);
afterAll(() => {
  holdWhatWasHeard();
  stopListening();
  // The next test file may reuse objects of this one (per-worker.ts), so they must not stay mocked.
  jest.restoreAllMocks();
});
