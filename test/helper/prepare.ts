import { prepare } from './prepared';

// `global.cjs` runs this file in a separate process, because it cannot load TypeScript itself.
void prepare();
