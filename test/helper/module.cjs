// Turns a module of the product or of a package into one that Node loads: see `environment.cjs`.
const codeOf = (file) => `module.exports = loadByNode(${JSON.stringify(file)});`;

const { createHash } = require('node:crypto');

module.exports = {
  process: (_source, file) => ({ code: codeOf(file) }),
  getCacheKey: (_source, file) => createHash('sha256').update(codeOf(file)).digest('hex'),
};
