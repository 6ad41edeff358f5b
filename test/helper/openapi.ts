import { STATUS_CODES } from 'node:http';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { stringify as exactJson } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { contractDocument } from '../../src/app/contract';
import { perWorker } from './per-worker';

/** A REST response, with its request. */
export interface RestAnswer {
  method: string;
  /** The path, with or without query or origin; `undefined` if the request was not HTTP. */
  url: string | undefined;
  status: number;
  headers: Readonly<Record<string, unknown>>;
  text: string;
}

/**
 * Returns how a response deviates from the OpenAPI document. Deviations are an undeclared status, type, header or field; a
 * value that does not match its schema; and a missing required header. The array is empty if the request matches no operation
 * of the document.
 */
export function faultsOf(answer: RestAnswer): string[] {
  return perWorker('description', () => new Description()).faultsOf(answer);
}

/** Checks responses against the OpenAPI document. @throws Error that lists all deviations. */
export function holdToDescription(answers: readonly RestAnswer[]): void {
  const faults = new Set(answers.flatMap(faultsOf));
  if (faults.size) throw new Error(`Responses do not match the OpenAPI document:\n${[...faults].join('\n')}`);
}

/** Statuses of requests that the HTTP server rejects before an operation runs. The document declares them as `default`. */
const REFUSED_BY_HTTP = [408, 414, 431];

/** Headers that any response may have: general HTTP headers, and headers for browsers. */
const OF_ANY_ANSWER =
  /^(connection|content-(type|length|security-policy)|date|keep-alive|vary|allow|cache-control|access-control-.*|cross-origin-.*|referrer-policy|x-content-type-options|x-frame-options)$/;

/** A response as the document declares it, and its location there. */
interface Described {
  name: string;
  response: OpenAPIV3.ResponseObject | undefined;
  at: string[];
}

class Description {
  private readonly document = strictDocument();
  private readonly paths = Object.entries(this.document.paths).map(([path, item]) => ({
    path,
    item: item as Record<string, OpenAPIV3.OperationObject>,
    form: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  private readonly ajv = addFormats(new Ajv({ strict: false, coerceTypes: false, allErrors: true }));
  private readonly validators = new Map<string, ValidateFunction>();

  constructor() {
    this.ajv.addSchema(this.document, 'openapi');
  }

  faultsOf({ method, url, status, headers, text }: RestAnswer): string[] {
    const described = url === undefined ? this.refusal(status) : this.operation(method, url, status);
    if (!described) return [];
    const { name, response, at } = described;
    if (!response) return [`${name} declares no ${status}`];
    const faults = [
      ...this.headerFaults(response, at, headers),
      ...this.bodyFaults(response, at, String(headers['content-type'] ?? ''), method === 'HEAD' ? '' : text),
    ];
    return faults.map((fault) => `${name} ${status}: ${fault}`);
  }

  /** The declared response of an operation. */
  private operation(method: string, url: string, status: number): Described | undefined {
    const pathname = url.replace(/^https?:\/\/[^/]+/, '').split('?', 1)[0] ?? '';
    const found = this.paths.find(({ form }) => form.test(pathname) && isDecodable(pathname));
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = found?.item[verb];
    if (!found || !operation) return undefined;

    const declared = REFUSED_BY_HTTP.includes(status) ? 'default' : String(status);
    const pointer = ['paths', found.path, verb, 'responses', declared];
    const [response, at] = this.resolve<OpenAPIV3.ResponseObject>(operation.responses[declared], pointer);
    return { name: `${method} ${found.path}`, response, at };
  }

  /** The declared response to a request that is not valid HTTP, and so belongs to no operation. */
  private refusal(status: number): Described {
    const named = (STATUS_CODES[status] ?? '').replaceAll(' ', '');
    const responses = this.document.components?.responses ?? {};
    const $ref = `#/components/responses/${named in responses ? named : 'OtherError'}`;
    const [response, at] = this.resolve<OpenAPIV3.ResponseObject>({ $ref }, []);
    return { name: 'Response to invalid HTTP', response, at };
  }

  private headerFaults({ headers = {} }: OpenAPIV3.ResponseObject, of: string[], received: RestAnswer['headers']) {
    const declared = Object.entries(headers).flatMap(([name, value]) => {
      const [header, at] = this.resolve<OpenAPIV3.HeaderObject>(value, [...of, 'headers', name]);
      const text = received[name.toLowerCase()];
      if (text === undefined) return header?.required ? [`${name} is missing`] : [];
      const { type } = (header?.schema ?? {}) as OpenAPIV3.SchemaObject;
      return this.misfits([...at, 'schema'], type === 'integer' ? Number(text) : text).map(
        (fault) => `${name} "${text}" ${fault}`,
      );
    });
    const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
    const others = Object.keys(received).filter((name) => !names.has(name) && !OF_ANY_ANSWER.test(name));
    return [...declared, ...others.map((name) => `${name} is not declared`)];
  }

  private bodyFaults({ content }: OpenAPIV3.ResponseObject, at: string[], type: string, text: string) {
    if (text === '') return [];
    const media = type.split(';', 1)[0] ?? '';
    if (!content?.[media]) return [`a body of ${media} is not declared`];
    return this.misfits([...at, 'content', media, 'schema'], JSON.parse(text));
  }

  private misfits(pointer: string[], value: unknown): string[] {
    const reference = `openapi#/${pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
    const validate = this.validators.get(reference) ?? this.ajv.compile({ $ref: encodeURI(reference) });
    this.validators.set(reference, validate);
    validate(value);
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  /** Resolves an object of the document that may be a reference. @returns the object and its location. */
  private resolve<T>(value: unknown, pointer: string[]): [T | undefined, string[]] {
    const reference = (value as OpenAPIV3.ReferenceObject | undefined)?.$ref;
    if (!reference) return [value as T, pointer];
    const at = reference.split('/').slice(1);
    const target = at.reduce((node, part) => (node as Record<string, unknown>)[part], this.document as unknown);
    return [target as T, at];
  }
}

/** Whether a path can be decoded. An invalid path matches no operation. */
function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** The document as served, except that objects must not have undeclared fields. */
function strictDocument(): OpenAPIV3.Document {
  const document = JSON.parse(exactJson(contractDocument()) ?? '') as OpenAPIV3.Document;
  for (const each of Object.values(document.components?.schemas ?? {}) as OpenAPIV3.SchemaObject[])
    if (each.type === 'object') each.additionalProperties = false;
  return document;
}
