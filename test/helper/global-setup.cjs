module.exports = require('./global.cjs').setup;
