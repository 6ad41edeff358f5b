// @ts-check
/**
 * @typedef {{ path: string, query?: string }} Example a GET of the path; with `query`, a POST of this GraphQL query
 * @typedef {'curl' | 'JavaScript' | 'Python'} Language
 * @typedef {{ header: string, scheme: string, variable: string }} Credential a header that sends the value of an environment variable
 */

/** @type {readonly Language[]} */
export const LANGUAGES = ['curl', 'JavaScript', 'Python'];

/** @type {Credential} */
export const KEY = { header: 'X-API-Key', scheme: '', variable: 'PETSTORE_API_KEY' };
/** @type {Credential} */
export const TOKEN = { header: 'Authorization', scheme: 'Bearer ', variable: 'PETSTORE_TOKEN' };

/**
 * Creates a program that sends an example request. A curl command runs in a shell, a JavaScript program as a module in Node
 * 20, and a Python program in Python 3.
 * @param {Language} language
 * @param {Example} example
 * @param {Credential | undefined} credential what the program sends
 */
export function snippetOf(language, { path, query }, credential) {
  const url = location.origin + path;
  return WRITERS[language](url, query, credential);
}

/** @type {Record<Language, (url: string, query: string | undefined, credential: Credential | undefined) => string>} */
const WRITERS = {
  curl: (url, query, credential) =>
    [
      `curl '${url}'`,
      credential && `-H "${credential.header}: ${credential.scheme}$${credential.variable}"`,
      query && "-H 'Content-Type: application/json'",
      query && `-d '${JSON.stringify({ query })}'`,
    ]
      .filter(Boolean)
      .join(' \\\n  '),

  JavaScript: (url, query, credential) => {
    const headers = [
      query && "'Content-Type': 'application/json'",
      credential && `'${credential.header}': ${joined(credential.scheme, `process.env.${credential.variable}`)}`,
    ].filter(Boolean);
    const options = [
      query && "  method: 'POST',",
      headers.length > 0 && `  headers: { ${headers.join(', ')} },`,
      query && `  body: JSON.stringify({ query: ${JSON.stringify(query)} }),`,
    ].filter(Boolean);
    const given = options.length ? `, {\n${options.join('\n')}\n}` : '';
    return [
      `const response = await fetch('${url}'${given});`,
      "console.log(response.headers.get('x-ratelimit-remaining'), 'left');",
      'console.log(await response.json());',
    ].join('\n');
  },

  Python: (url, query, credential) => {
    const headers = [
      query && '"Content-Type": "application/json"',
      credential && `"${credential.header}": ${joined(credential.scheme, `os.environ["${credential.variable}"]`)}`,
    ].filter(Boolean);
    const body = query && `json.dumps({"query": ${JSON.stringify(query)}}).encode()`;
    const more = [body && `data=${body}`, headers.length > 0 && `headers={${headers.join(', ')}}`].filter(Boolean);
    const request = more.length
      ? `urllib.request.Request(\n    "${url}",\n${more.map((each) => `    ${each},\n`).join('')})`
      : `"${url}"`;
    return [
      credential ? 'import json, os, urllib.request' : 'import json, urllib.request',
      '',
      `request = ${request}`,
      'with urllib.request.urlopen(request) as response:',
      '    print(response.headers["X-RateLimit-Remaining"], "left")',
      '    print(json.load(response))',
    ].join('\n');
  },
};

/** An expression in JavaScript or Python. @param {string} scheme @param {string} value */
const joined = (scheme, value) => (scheme ? `"${scheme}" + ${value}` : value);
