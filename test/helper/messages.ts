/** The start line and headers of an HTTP/1.1 message, and the text after them. */
interface Head {
  start: string;
  /** By lower-case name; repeated headers are joined. */
  headers: Record<string, string>;
  rest: string;
}

export interface Request {
  method: string;
  url: string;
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Parses the requests in a sent text, up to the first part that is not HTTP. The last body may be missing.
 * @param sent bytes as characters (latin1), as in all functions of this file.
 */
export function requestsIn(sent: string): Request[] {
  const requests: Request[] = [];
  for (let rest: string | undefined = sent; rest; ) {
    const head = headIn(rest);
    const [, method, url] = /^([A-Z-]+) (\S+) HTTP\/1\.[01]$/.exec(head?.start ?? '') ?? [];
    if (!head || !method || !url) break;
    requests.push({ method, url });
    rest = bodyIn(head, 0)?.rest;
  }
  return requests;
}

/** Parses the complete responses in a received text. @param requests the requests to which they respond, in order. */
export function responsesIn(received: string, requests: readonly Request[] = []): Response[] {
  const responses: Response[] = [];
  for (let rest: string | undefined = received; rest; ) {
    const head = headIn(rest);
    const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(head?.start ?? '')?.[1]);
    // After a 101 response, the connection carries another protocol.
    if (!head || !status || status === 101) break;
    const isEmpty = requests[responses.length]?.method === 'HEAD' || [204, 304].includes(status);
    const end = isEmpty || status < 200 ? { body: '', rest: head.rest } : bodyIn(head, Number.POSITIVE_INFINITY);
    if (end && status >= 200)
      responses.push({ status, headers: head.headers, body: Buffer.from(end.body, 'latin1').toString() });
    rest = end?.rest;
  }
  return responses;
}

function headIn(text: string): Head | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [start = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, colon).toLowerCase();
    const value = field.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return { start, headers, rest: text.slice(end + 4) };
}

/**
 * The body of a message, and the text after it; `undefined` if the body is incomplete.
 * @param defaultLength the length of the body if there is no Content-Length; `Infinity` stands for the rest of the text.
 */
function bodyIn({ headers, rest }: Head, defaultLength: number): { body: string; rest: string } | undefined {
  if (/\bchunked$/i.test(headers['transfer-encoding'] ?? '')) return chunksIn(rest);
  const said = headers['content-length'];
  const length = said === undefined ? defaultLength : Number(said);
  if (said !== undefined && rest.length < length) return undefined;
  return { body: rest.slice(0, length), rest: rest.slice(length) };
}

function chunksIn(text: string): { body: string; rest: string } | undefined {
  const size = /([\da-f]+)[^\r\n]*\r\n/iy;
  let body = '';
  for (;;) {
    const [line, digits = ''] = size.exec(text) ?? [];
    if (line === undefined) return undefined;
    const start = size.lastIndex;
    const end = start + Number.parseInt(digits, 16);
    if (text.length < end + 2) return undefined;
    if (end === start) return { body, rest: text.slice(end + 2) };
    body += text.slice(start, end);
    size.lastIndex = end + 2;
  }
}
