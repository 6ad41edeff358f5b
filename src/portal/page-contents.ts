import { REST_REFERENCE } from './guides';
import { GRAPHIQL, SANDBOX, SWAGGER_UI } from './page';
import { fill, type PageContent } from './templates';

/** The field for the API key, and the remaining quota, in the top bar. */
const EXPLORER_TOOLS = `<div class="tools row">${fill('key')}\n<p id="quota" class="standing soft" role="status"></p></div>`;

/**
 * The initial content of a page whose content is created by a script.
 * @param instead the hint for browsers without JavaScript.
 * @param tag the element for the content; `div` if the script creates a `main` element.
 */
function needsScripts(name: string, instead: string, tag: 'main' | 'div' = 'main'): string {
  const loading = '<p class="notice loading" role="status">Loading…</p>';
  return `<${tag} id="content">${loading}<noscript><p class="notice">${name} needs JavaScript. ${instead}</p></noscript></${tag}>`;
}

/** All pages except the guides and Apollo Sandbox. */
export const CONTENTS: readonly PageContent[] = [
  {
    path: '/',
    title: 'Start',
    description: 'A GraphQL gateway for a petstore: pets, categories, orders and stock.',
    layout: 'sheet',
    files: ['start.js'],
    tools: '<p id="health" class="standing soft" role="status">Checking<span class="roomy"> health</span>…</p>',
    content: () => fill('start', { key: fill('key') }),
  },
  {
    path: '/admin',
    title: 'Keys',
    description: 'Keys of the petstore: their plans, scopes and usage.',
    layout: 'sheet',
    files: ['admin.js'],
    content: () => fill('admin', { key: fill('key') }),
  },
  {
    path: '/graphiql',
    title: 'GraphiQL',
    description: 'The GraphQL interface of the petstore in GraphiQL.',
    layout: 'explorer',
    files: ['vendor/graphiql.css', 'vendor/react.js', 'vendor/react-dom.js', 'vendor/graphiql.js', 'graphiql.js'],
    policy: GRAPHIQL,
    tools: EXPLORER_TOOLS,
    content: () => needsScripts('GraphiQL', 'The <a href="/docs">guides</a> show how to send requests without it.'),
  },
  {
    path: REST_REFERENCE.href,
    title: REST_REFERENCE.title,
    description: 'The REST interface of the petstore in Swagger UI.',
    layout: 'explorer long',
    files: ['vendor/swagger-ui.css', 'vendor/swagger-ui.js', 'rest.js'],
    policy: SWAGGER_UI,
    tools: EXPLORER_TOOLS,
    content: () =>
      needsScripts(
        'Swagger UI',
        'The <a href="/openapi.yaml">OpenAPI document</a> describes the same operations.',
        'div',
      ),
  },
];

/** The page that browsers get at `/graphql`. */
export const SANDBOX_CONTENT: PageContent = {
  path: '/graphql',
  title: 'Apollo Sandbox',
  description: 'The GraphQL interface of the petstore in Apollo Sandbox.',
  layout: 'explorer',
  files: ['sandbox.js'],
  policy: SANDBOX,
  tools:
    '<p class="standing soft"><span role="heading" aria-level="1">Sandbox</span> does not get your key. <a href="/graphiql">GraphiQL</a> uses it.</p>',
  content: () => fill('sandbox'),
};
