import {
  buildSchema,
  type GraphQLField,
  type GraphQLInputField,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

let gateway: Gateway;
let rest: string;
let graphql: string;
beforeAll(async () => {
  gateway = await startGateway({});
  rest = (await send(gateway, 'GET /docs/rest')).text;
  graphql = (await send(gateway, 'GET /docs/graphql')).text;
});
afterAll(() => gateway.close());

const anchorsOf = (html: string) => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const linksOf = (html: string) => [...html.matchAll(/ href="([^"]+)"/g)].map(([, url]) => String(url));

describe.each(['/docs/rest', '/docs/graphql', '/docs/errors'])('%s', (path) => {
  test('is a page that runs only scripts of this server, free of quota', async () => {
    const { status, headers, text } = await send(gateway, `GET ${path}`, undefined, { 'x-api-key': undefined });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['x-ratelimit-remaining']).toBe(headers['x-ratelimit-limit']);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=/);
    expect(await send(gateway, `POST ${path}`)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });

  test('has each anchor once, and only links that lead somewhere', async () => {
    const { text } = await send(gateway, `GET ${path}`);
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => String(id));
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const links = [...new Set(linksOf(text))];
    const dead = links.filter((url) => url.startsWith('#') && !ids.includes(decodeURI(url.slice(1))));
    expect(dead).toEqual([]);
    for (const page of new Set(links.filter((url) => url.startsWith('/')).map((url) => url.split('#')[0]))) {
      const target = await send(gateway, `GET ${page}`, undefined, { accept: 'text/html' });
      expect([page, target.status]).toEqual([page, 200]);
      const wanted = links.filter((url) => url.startsWith(`${page}#`)).map((url) => url.split('#')[1]);
      expect(wanted.filter((id) => !anchorsOf(target.text).has(id))).toEqual([]);
    }
  });
});

describe('/docs/rest', () => {
  test('has each operation by its id: route, parameters, errors, schemas, and a form', async () => {
    const document = (await send(gateway, 'GET /openapi.json')).json as unknown as OpenAPIV3.Document;
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, { operationId, parameters, responses }] of Object.entries(
        item as Record<string, OpenAPIV3.OperationObject>,
      )) {
        const [, rest_ = ''] = rest.split(`id="${operationId}"`);
        const entry = rest_.slice(0, rest_.indexOf('</article>'));
        const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
        expect([operationId, /<pre><code>[{[]/.test(entry)]).toEqual([operationId, Boolean(Object(success).content)]);
        expect(entry).toContain(`data-method="${method.toUpperCase()}" data-path="${path}"`);
        for (const parameter of parameters ?? [])
          if ('name' in parameter) expect(entry).toContain(`<code class="name">${parameter.name}</code>`);
        for (const status of Object.keys(responses).filter((each) => each !== 'default'))
          expect(entry).toContain(Number(status) < 400 ? `>${status}</code>` : `>${status}</span>`);
      }
    for (const name of Object.keys(document.components?.schemas ?? {})) expect(anchorsOf(rest)).toContain(name);
  });

  test('describes each header and shared parameter once', async () => {
    const { components } = (await send(gateway, 'GET /openapi.json')).json as unknown as OpenAPIV3.Document;
    for (const { description } of Object.values(components?.headers ?? {}) as OpenAPIV3.HeaderObject[]) {
      const [start = ''] = String(description).split('`');
      expect(rest.split(start)).toHaveLength(2);
    }
    for (const { name } of Object.values(components?.parameters ?? {}) as OpenAPIV3.ParameterObject[])
      expect(anchorsOf(rest)).toContain(`parameter-${name}`);
  });

  test('shows 64-bit integers exactly', () => {
    expect(rest).not.toContain('9223372036854776000');
  });

  test('has the anchor that a deprecated operation links to', async () => {
    const { headers } = await send(gateway, 'GET /pets/1');
    const [, id = ''] = /<\/docs\/rest#(\w+)>; rel="deprecation"/.exec(headers.link ?? '') ?? [];
    expect(anchorsOf(rest)).toContain(id);
    expect(rest.split(`id="${id}"`)[1]).toMatch(/^.*?deprecated · sunset 2027-11-01/s);
  });
});

describe('/docs/graphql', () => {
  test('has an anchor for each type, field, argument, input field, enum value and directive', async () => {
    const schema = buildSchema((await send(gateway, 'GET /schema.graphql')).text);
    const anchors = anchorsOf(graphql);
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const wanted = Object.values(schema.getTypeMap())
      .filter((type) => !type.name.startsWith('__') && !(isScalarType(type) && isSpecifiedScalarType(type)))
      .flatMap((type) => {
        const own = roots.some((root) => root === type) ? [] : [type.name];
        if (isEnumType(type)) return [...own, ...type.getValues().map(({ name }) => `${type.name}.${name}`)];
        if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return own;
        const fields = Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields());
        const arguments_ = fields.flatMap((field) =>
          'args' in field ? field.args.map(({ name }) => `${type.name}.${field.name}(${name}:)`) : [],
        );
        return [...own, ...fields.map(({ name }) => `${type.name}.${name}`), ...arguments_];
      });
    expect(wanted.length).toBeGreaterThan(200);
    expect(wanted.filter((id) => !anchors.has(id))).toEqual([]);
    expect(anchors).toContain('@rateLimit');
  });

  const entryOf = (id: string) => {
    const [, rest_ = ''] = graphql.split(` id="${id}"`);
    return rest_.slice(0, rest_.indexOf('</article>'));
  };

  test('says what introspection does not: scope, quota, errors, cost, stability', () => {
    const place = entryOf('Mutation.placeOrder');
    expect(place.replace(/<[^>]+>/g, '')).toContain('placeOrder(input: NewOrder!): Order');
    expect(place).toContain('scope WRITE');
    expect(place).toContain('1 request');
    expect(place).toContain('<a href="/docs/errors#insufficient_stock">');
    expect(entryOf('Query.viewer')).toContain('>free<');
    expect(entryOf('Query.pets')).toMatch(/<h4>Cost<\/h4><p>20 .*<code>first<\/code> or <code>last<\/code>, or 20/);
    expect(entryOf('PetFilter')).toMatch(/>name<.*cost 1000/);
    expect(entryOf('Mutation.removeInventory')).toContain('>beta<');
    expect(entryOf('PetSort')).toContain('<a href="#SortDirection">SortDirection</a>! = <code>ASC</code>');
    expect(entryOf('Order')).toContain('Implements <a href="#Node">');
  });
});
