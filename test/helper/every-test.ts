import { holdWhatWasHeard, listenIn, stopListening } from './connections';

// Jest loads this file for every test file. The hooks check the responses on connections against the OpenAPI document.
beforeAll(listenIn);
afterEach(holdWhatWasHeard);
afterAll(() => {
  holdWhatWasHeard();
  stopListening();
  // The next test file may reuse objects of this test file (per-worker.ts), so the objects must not stay mocked.
  jest.restoreAllMocks();
});
