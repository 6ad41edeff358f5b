import { parseEnvFile } from '../../src/app/env-file';

const parse = (text: string) =>
  Object.fromEntries(parseEnvFile(text, (name) => name === 'PORT').map(({ name, value }) => [name, value]));

test.each([
  ['a byte order mark', '\ufeffPORT=1', { PORT: '1' }],
  ['a byte order mark inside, as after `cat a b`', 'HOST=h\n\ufeffPORT=1', { HOST: 'h', PORT: '1' }],
  ['Windows line ends', 'PORT=1\r\nHOST=h\r\n', { PORT: '1', HOST: 'h' }],
  ['old Mac line ends', 'PORT=1\rHOST=h\r', { PORT: '1', HOST: 'h' }],
  ['lines of blanks', ' \t\n   \nPORT=1\n  \n\u00a0\nHOST=h\n ', { PORT: '1', HOST: 'h' }],
  ['blanks around names and values', '\t PORT \u00a0=  1 \t\n', { PORT: '1' }],
  ['an empty value, followed by a line', 'HOST=  \nPORT=1', { HOST: '', PORT: '1' }],
  ['`export`', 'export PORT=1\n  export\tHOST = h', { PORT: '1', HOST: 'h' }],
  [
    'comments',
    '# PORT=2\n  #\nPORT=1 # one\nHOST= # none\nA="x" # x\nB=\'y\'# y',
    { PORT: '1', HOST: '', A: 'x', B: 'y' },
  ],
  ['quotes', 'A=" x "\nB=\' y \'\nC=` "z\' `\nD=it\'s\nE=""', { A: ' x ', B: ' y ', C: ' "z\' ', D: "it's", E: '' }],
  ['# in quotes', 'A="x#y"\nB=\'x #y\'\nC=`#`', { A: 'x#y', B: 'x #y', C: '#' }],
  ['\\n in double quotes only', 'A="x\\ny"\nB=\'x\\ny\'\nC=x\\ny', { A: 'x\ny', B: 'x\\ny', C: 'x\\ny' }],
  ['= in a value', 'URL=postgresql://h/d?a=b', { URL: 'postgresql://h/d?a=b' }],
  ['a value of several lines', 'A="x\r\n # y\n\nz=1"\nPORT=1', { A: 'x\n # y\n\nz=1', PORT: '1' }],
  ['the last of several values', 'PORT=1\nPORT=2', { PORT: '2' }],
  ['names with other characters', 'a.b-C_1=x', { 'a.b-C_1': 'x' }],
])('%s are read for what they mean', (_what, text, values) => {
  expect(parse(text)).toEqual(values);
});

const NO_EQUALS = 'it has no "=". Write NAME=value. A comment must start with "#".';
const NO_NAME = 'it has no valid name before "=". Write NAME=value. A comment must start with "#".';
const HASH = 'its value contains "#". Put the value in quotes, or put a blank before "#" if a comment begins there.';
const follows = (quote: string) =>
  `text follows the closing ${quote}. Remove it, or use other quotes around the value.`;
const unclosed = (quote: string) => `its value has no closing ${quote}. Add it at the end of the value.`;

test.each([
  ['HOST=h\n\nPORT: 4000', 3, NO_EQUALS],
  ['PORT 4000', 1, NO_EQUALS],
  ['export PORT', 1, NO_EQUALS],
  ['; PORT is 4000', 1, NO_EQUALS],
  ['=4000', 1, NO_NAME],
  ['set PORT=4000', 1, NO_NAME],
  ['- PORT=4000', 1, NO_NAME],
  ['"PORT"=4000', 1, NO_NAME],
  ['PO\u200bRT=4000', 1, NO_NAME],
  ['URL: postgresql://h/d?a=b', 1, NO_NAME],
  ['ACCESS=none#read', 1, HASH],
  ['ACCESS=#none', 1, HASH],
  ['A="x', 1, unclosed('"')],
  ["HOST=h\nA='x\ny", 2, unclosed("'")],
  ['A="x\nPORT="', 1, unclosed('"')],
  ['A="x"y', 1, follows('"')],
  ['A="a\\"b"', 1, follows('"')],
  ['A="x\nB="y"', 2, follows('"')],
  ['A=x\nB=\ufffd', 2, 'it is not valid UTF-8. Save the file as UTF-8.'],
  ['A=x\nB\0=y', 2, 'it contains a NUL byte. Save the file as UTF-8.'],
  ['A="x\n\0"', 2, 'it contains a NUL byte. Save the file as UTF-8.'],
])('%j is an error that names the line and a remedy', (text, line, message) => {
  expect(() => parse(text)).toThrow(`.env, line ${line}: ${message}`);
});
