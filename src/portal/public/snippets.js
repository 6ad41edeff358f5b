// @ts-check
/**
 * @typedef {{ path: string, query?: string }} Example a GET of the path; with `query`, a POST of this GraphQL query
 * @typedef {'curl' | 'JavaScript' | 'Python'} Language
 */

/** @type {readonly Language[]} */
export const LANGUAGES = ['curl', 'JavaScript', 'Python'];

/**
 * Creates a program that sends an example request. A curl command runs in a shell, a JavaScript program as a module in Node
 * 20, and a Python program in Python 3.
 * @param {Language} language
 * @param {Example} example
 * @param {boolean} withKey whether the program sends the key in the environment variable PETSTORE_API_KEY
 */
export function snippetOf(language, { path, query }, withKey) {
  const url = location.origin + path;
  return WRITERS[language](url, query, withKey);
}

/** @type {Record<Language, (url: string, query: string | undefined, withKey: boolean) => string>} */
const WRITERS = {
  curl: (url, query, withKey) =>
    [
      `curl '${url}'`,
      withKey && '-H "X-API-Key: $PETSTORE_API_KEY"',
      query && "-H 'Content-Type: application/json'",
      query && `-d '${JSON.stringify({ query })}'`,
    ]
      .filter(Boolean)
      .join(' \\\n  '),

  JavaScript: (url, query, withKey) => {
    const headers = [
      query && "'Content-Type': 'application/json'",
      withKey && "'X-API-Key': process.env.PETSTORE_API_KEY",
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

  Python: (url, query, withKey) => {
    const headers = [
      query && '"Content-Type": "application/json"',
      withKey && '"X-API-Key": os.environ["PETSTORE_API_KEY"]',
    ].filter(Boolean);
    const body = query && `json.dumps({"query": ${JSON.stringify(query)}}).encode()`;
    const more = [body && `data=${body}`, headers.length > 0 && `headers={${headers.join(', ')}}`].filter(Boolean);
    const request = more.length
      ? `urllib.request.Request(\n    "${url}",\n${more.map((each) => `    ${each},\n`).join('')})`
      : `"${url}"`;
    return [
      withKey ? 'import json, os, urllib.request' : 'import json, urllib.request',
      '',
      `request = ${request}`,
      'with urllib.request.urlopen(request) as response:',
      '    print(response.headers["X-RateLimit-Remaining"], "left")',
      '    print(json.load(response))',
    ].join('\n');
  },
};
