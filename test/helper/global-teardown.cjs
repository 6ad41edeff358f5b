module.exports = require('./global.cjs').teardown;
