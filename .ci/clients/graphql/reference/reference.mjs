// The reference implementation. It reads requests from standard input, one JSON object on a line, and writes one line for
// each. The schema is the file that the first argument names.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  buildClientSchema, buildSchema, coerceInputValue, getIntrospectionQuery, getVariableValues, GraphQLError,
  introspectionFromSchema, lexicographicSortSchema, parse, parseConstValue, parseType, printSchema, specifiedRules,
  typeFromAST, validate, validateSchema, valueFromAST,
} from 'graphql';

const schema = buildSchema(readFileSync(process.argv[2], 'utf8'));

// at is the place of a node, as Go's side writes it.
const at = (node) => `@${node.loc.startToken.line}:${node.loc.startToken.column}`;
const name = (node) => (node ? node.value + at(node) : '-');
const list = (nodes, one) => '[' + (nodes ?? []).map(one).join(' ') + ']';

// One line of text for a tree, with the place of every node.
const dumps = {
  Document: (n) => list(n.definitions, dump),
  OperationDefinition: (n) =>
    `${n.operation} ${name(n.name)} ${list(n.variableDefinitions, dump)} ${list(n.directives, dump)} ${dump(n.selectionSet)}`,
  FragmentDefinition: (n) => `${name(n.name)} ${dump(n.typeCondition)} ${list(n.directives, dump)} ${dump(n.selectionSet)}`,
  VariableDefinition: (n) =>
    `${dump(n.variable)} ${dump(n.type)} ${n.defaultValue ? dump(n.defaultValue) : '-'} ${list(n.directives, dump)}`,
  SelectionSet: (n) => list(n.selections, dump),
  Field: (n) =>
    `${name(n.alias)} ${name(n.name)} ${list(n.arguments, dump)} ${list(n.directives, dump)} ` +
    (n.selectionSet ? dump(n.selectionSet) : '-'),
  FragmentSpread: (n) => `${name(n.name)} ${list(n.directives, dump)}`,
  InlineFragment: (n) =>
    `${n.typeCondition ? dump(n.typeCondition) : '-'} ${list(n.directives, dump)} ${dump(n.selectionSet)}`,
  Argument: (n) => `${name(n.name)} ${dump(n.value)}`,
  Directive: (n) => `${name(n.name)} ${list(n.arguments, dump)}`,
  NamedType: (n) => name(n.name),
  ListType: (n) => dump(n.type),
  NonNullType: (n) => dump(n.type),
  Variable: (n) => name(n.name),
  StringValue: (n) => JSON.stringify(n.value),
  BooleanValue: (n) => String(n.value),
  NullValue: () => 'null',
  ListValue: (n) => list(n.values, dump),
  ObjectValue: (n) => list(n.fields, dump),
  ObjectField: (n) => `${name(n.name)} ${dump(n.value)}`,
};
function dump(node) {
  return `(${node.kind}${at(node)} ${(dumps[node.kind] ?? ((n) => n.value))(node)})`;
}

const explain = (error) => ({
  message: error.message,
  places: (error.locations ?? []).map(({ line, column }) => `${line}:${column}`),
});

// attempt answers with what went wrong in place of an answer, if it is the client's fault.
function attempt(fn) {
  try {
    return fn();
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { error: explain(error) };
  }
}

// plain keeps apart what JSON does not: what is absent, and what is no number there.
const plain = (value) => (value === undefined ? { absent: true } : { value });

// Everything that introspection can be asked for.
const all = {
  descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true,
  inputValueDeprecation: true, experimentalDirectiveDeprecation: true, oneOf: true,
};

const answers = {
  introspection: () => ({ text: getIntrospectionQuery(all) }),
  // The text is an SDL, and the value the answer to the introspection query of the same schema.
  schema({ text, value }) {
    const [client, built] = [buildClientSchema(value), buildSchema(text)];
    const valid = introspectionFromSchema(built, all);
    const asked = validate(built, parse(getIntrospectionQuery(all)));
    return {
      text: printSchema(client),
      rebuilt: printSchema(built),
      sorted: [client, built].map((s) => printSchema(lexicographicSortSchema(s))),
      errors: [...validateSchema(client), ...validateSchema(built), ...asked].map(explain),
      value: valid,
    };
  },
  parse: ({ text }) => ({ tree: dump(parse(text)) }),
  validate({ text }) {
    const doc = parse(text);
    const errors = specifiedRules.flatMap((rule) => {
      const name = rule.name.replace(/Rule$/, '');
      const found = attempt(() =>
        validate(schema, doc, [rule], { maxErrors: 1000, hideSuggestions: true }).map(explain));
      return [found.error ?? found].flat().map((error) => ({ rule: name, ...error }));
    });
    return { errors };
  },
  literal({ text, type, variables }) {
    return plain(valueFromAST(parseConstValue(text), typeFromAST(schema, parseType(type)), variables));
  },
  input({ value, type }) {
    const errors = [];
    const got = coerceInputValue(value, typeFromAST(schema, parseType(type)), (path, _, error) =>
      errors.push({ path: path.join('.'), message: error.message }));
    return errors.length > 0 ? { errors } : plain(got);
  },
  variables({ text, variables }) {
    const got = getVariableValues(schema, parse(text).definitions[0].variableDefinitions, variables, { maxErrors: 1000 });
    return got.errors ? { errors: got.errors.map((e) => ({ message: e.message })) } : { value: got.coerced };
  },
};

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  console.log(JSON.stringify(attempt(() => answers[request.kind](request))));
}
