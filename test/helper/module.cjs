// Replaces the code of a product module or package with a call that lets Node load the module: see `environment.cjs`.
const codeOf = (file) => `module.exports = loadByNode(${JSON.stringify(file)});`;

const { createHash } = require('node:crypto');

module.exports = {
  process: (_source, file) => ({ code: codeOf(file) }),
  getCacheKey: (_source, file) => createHash('sha256').update(codeOf(file)).digest('hex'),
};
