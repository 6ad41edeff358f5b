import { prepare } from './prepared';

// Its own process: `global-setup.cjs` cannot load TypeScript.
void prepare();
