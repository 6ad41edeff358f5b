import { prepare } from './prepared';

// `global.cjs` cannot load TypeScript, so it runs this file in a separate process.
void prepare();
