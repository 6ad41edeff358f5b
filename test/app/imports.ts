import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** An import in a source file. `from` is the path of a project file, without its suffix, or a package. */
export interface Import {
  readonly from: string;
  /** Whether only types are imported. Such an import does not exist at run time. */
  readonly typeOnly: boolean;
}

/** The imports of a source file, and whether it reads the environment. */
export interface SourceFile {
  /** Relative to the project: `src/graphql/cursor.ts`. */
  readonly path: string;
  readonly imports: readonly Import[];
  readonly readsEnvironment: boolean;
}

/** Parses a source text with the compiler: static, dynamic and type imports, re-exports, `require`. */
export function readSource(path: string, text: string): SourceFile {
  const imports: Import[] = [];
  let readsEnvironment = false;
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (specifier && ts.isStringLiteral(specifier)) imports.push({ from: resolve(path, specifier.text), typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && isImportCall(node)) add(node.arguments[0], false);
    if (isEnvironment(node)) readsEnvironment = true;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return {
    path,
    imports,
    readsEnvironment: readsEnvironment || imports.some(({ from }) => /^(node:)?process$/.test(from)),
  };
}

function resolve(path: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)).replace(/\.(ts|js)$/, '') : specifier;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return !clause.name && !!named && ts.isNamedImports(named) && named.elements.every((element) => element.isTypeOnly);
}

function isImportCall({ expression }: ts.CallExpression): boolean {
  const isRequire = ts.isIdentifier(expression) && expression.text === 'require';
  return isRequire || expression.kind === ts.SyntaxKind.ImportKeyword;
}

/** Whether a node reads the environment: `process.env`, `process['env']`, or a variable initialized with `process`. */
function isEnvironment(node: ts.Node): boolean {
  const isProcess = (inner: ts.Node | undefined) => !!inner && ts.isIdentifier(inner) && inner.text === 'process';
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) return isProcess(node.expression);
  return ts.isVariableDeclaration(node) && isProcess(node.initializer);
}
