import type { OpenAPIV3 } from 'openapi-types';
import { escaped } from '../html';
import { jsonText } from './rest-schema-html';
import type { ShownOperation, ShownParameter } from './shown-operation';

/** The operation as a command, and a form that sends it with the key of the tab; `reference.js` fills and runs them. @param example a body. */
export function tryHtml({ method, path, operation, parameters }: ShownOperation, example: unknown): string {
  const id = operation.operationId ?? '';
  const body =
    operation.requestBody &&
    `<label class="wide">Body<textarea name="body" rows="${jsonText(example).split('\n').length}" spellcheck="false">${escaped(jsonText(example))}</textarea></label>`;
  return `
    <pre class="curl" tabindex="0" aria-label="With curl"></pre>
    <details class="try"><summary>Try it</summary>
      <form data-method="${method}" data-path="${escaped(path)}" aria-label="Try ${id}">
        ${parameters.map(input).join('')}${body ?? ''}
        <p class="send"><button type="submit">Send</button> <output role="status"></output></p>
        <pre class="answer" tabindex="0" aria-label="Response body" hidden></pre>
        <details class="received" hidden><summary>Response headers</summary><pre tabindex="0" aria-label="Response headers"></pre></details>
      </form>
    </details>`;
}

function input({ name, in: place, required, schema = {}, example }: ShownParameter): string {
  const { enum: values, type } = schema as OpenAPIV3.SchemaObject;
  const named = `name="${escaped(name)}" data-in="${place}"${required ? ' required' : ''}`;
  const several = type === 'array' ? ' placeholder="a, b, …"' : '';
  const field = values
    ? `<select ${named}><option></option>${values.map((value) => `<option>${escaped(String(value))}</option>`).join('')}</select>`
    : `<input ${named} value="${escaped(String(example ?? ''))}"${several} autocomplete="off" spellcheck="false">`;
  return `<label>${escaped(name)}${field}</label>`;
}
