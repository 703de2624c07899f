// The reference implementation executes documents over the world of package oracle: with the schema of an SDL, the items of
// a dump, and resolvers that were written for it alone. It reads requests from standard input, one JSON object on a line,
// and answers each with one line.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { buildSchema, execute, GraphQLError, parse, validate, valueFromASTUntyped } from 'graphql';

const schema = buildSchema(readFileSync(process.argv[2], 'utf8'));
const world = JSON.parse(readFileSync(process.argv[3], 'utf8'));

const fail = (code) => {
  throw new GraphQLError(code, { extensions: { code } });
};
const bad = () => fail('BAD_USER_INPUT');
const closed = () => fail('INTERNAL_SERVER_ERROR');

// The scalars. JSON.stringify knows no 64-bit integers: they are marked, and the marks taken out of the text.
const minimum = -(2n ** 63n);
const int64 = (value) => {
  const n = BigInt(value);
  if (n < minimum || n >= -2n * minimum) throw new GraphQLError('beyond 64 bits');
  return n;
};
const instant = (text) => {
  const [, rest, fraction = '', zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const ms = Date.parse(rest + zone);
  if (Number.isNaN(ms)) throw new GraphQLError('no date-time');
  return BigInt(ms) * 1_000_000n + BigInt((fraction.slice(1) + '000000000').slice(0, 9));
};
const scalars = {
  Int64: {
    serialize: (value) => `@int64:${value}@`,
    parseValue(value) {
      if (typeof value !== 'number' || !Number.isInteger(value)) throw new GraphQLError('no integer');
      return int64(value);
    },
    parseLiteral(node) {
      if (node.kind !== 'IntValue') throw new GraphQLError('no integer');
      return int64(node.value);
    },
  },
  DateTime: {
    serialize: (value) => value,
    parseValue(value) {
      if (typeof value !== 'string') throw new GraphQLError('no date-time');
      return instant(value);
    },
    parseLiteral(node) {
      if (node.kind !== 'StringValue') throw new GraphQLError('no date-time');
      return instant(node.value);
    },
  },
  JSON: {
    serialize: (value) => value,
    parseValue: (value) => value,
    parseLiteral(node, variables) {
      if (node.kind === 'EnumValue') throw new GraphQLError('no JSON');
      return valueFromASTUntyped(node, variables);
    },
  },
};
for (const [name, functions] of Object.entries(scalars)) {
  if (schema.getType(name)) Object.assign(schema.getType(name), functions);
}

// What members are compared as.
const kinds = {
  authors: {
    id: 'int64', name: 'text', country: 'text', born: 'number', fans: 'int64', rating: 'number', isAlive: 'bool', note: 'text',
  },
  books: {
    id: 'text', title: 'text', authorId: 'int64', pages: 'number', printed: 'instant', serial: 'int64', price: 'number',
  },
};
const canonical = (kind, text) => {
  if (kind !== 'int64' || typeof text !== 'string') return text;
  if (!/^(0|-?[1-9]\d*)$/.test(text)) bad();
  try {
    return int64(text);
  } catch {
    return bad();
  }
};
const comparable = (kind, value) => {
  if (value === null || value === undefined) return null;
  if (kind === 'int64') return BigInt(value);
  if (kind === 'number') return value === '+Inf' ? Infinity : Number(value);
  return kind === 'instant' ? instant(value) : value;
};

// Null is first, and NaN is before all other numbers.
function compare(a, b) {
  if (a === null || b === null) return (a !== null) - (b !== null);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(b) - Number.isNaN(a);
  return a < b ? -1 : Number(a > b);
}

// Filters become functions. Against null everything is false but ne and notIn.
const operators = {
  eq: (a, b) => a !== null && compare(a, b) === 0,
  ne: (a, b) => a === null || compare(a, b) !== 0,
  in: (a, list) => a !== null && list.some((b) => compare(a, b) === 0),
  notIn: (a, list) => a === null || !list.some((b) => compare(a, b) === 0),
  lt: (a, b) => a !== null && compare(a, b) < 0,
  lte: (a, b) => a !== null && compare(a, b) <= 0,
  gt: (a, b) => a !== null && compare(a, b) > 0,
  gte: (a, b) => a !== null && compare(a, b) >= 0,
  contains: (a, b) => a !== null && a.includes(b),
  startsWith: (a, b) => a !== null && a.startsWith(b),
};

function filterOf(of, filter, budget, depth = 0) {
  if (depth > 8) bad();
  const tests = [];
  for (const [name, value] of Object.entries(filter)) {
    if (value === null) continue;
    if (name === 'and' || name === 'or') {
      const parts = value.map((part) => filterOf(of, part, budget, depth + 1));
      tests.push(name === 'and' ? (item) => parts.every((t) => t(item)) : (item) => parts.some((t) => t(item)));
    } else if (name === 'not') {
      const part = filterOf(of, value, budget, depth + 1);
      tests.push((item) => !part(item));
    } else {
      tests.push(...comparisons(of, name, value, budget));
    }
  }
  return (item) => tests.every((t) => t(item));
}

function comparisons(of, name, operands, budget) {
  const kind = kinds[of][name];
  const tests = [];
  for (const [op, value] of Object.entries(operands)) {
    if (op === 'isNull' && value === null) continue;
    if (--budget.terms < 0 || value === null || (Array.isArray(value) && value.length > 200)) bad();
    if (op === 'isNull') {
      tests.push((item) => (item[name] === null) === value);
    } else {
      const partial = op === 'contains' || op === 'startsWith';
      const operand = Array.isArray(value) ? value.map((v) => canonical(kind, v)) : partial ? value : canonical(kind, value);
      tests.push((item) => operators[op](comparable(kind, item[name]), operand));
    }
  }
  return tests;
}

// list returns a list or one page of it. Hidden items do not shorten a page.
const visible = (item) => item.name !== 'Nobody';

function list(of, from, args, page, most) {
  const { filter, orderBy, first, last, after, before } = args;
  const given = (v) => v !== null && v !== undefined;
  const pairs = [[first, last], [first, before], [last, after], [after, before]];
  if (pairs.some(([a, b]) => given(a) && given(b))) bad();
  for (const n of [first, last]) if (given(n) && (n < 0 || n > most)) bad();
  if (given(orderBy) && (orderBy.length > 4 || new Set(orderBy.map((o) => o.field)).size < orderBy.length)) bad();
  const test = given(filter) ? filterOf(of, filter, { terms: 20 }) : () => true;
  if (!from) closed();
  const keys = [...(orderBy ?? []), { field: 'id', direction: 'ASC' }];
  const order = (a, b) => {
    for (const { field, direction } of keys) {
      const c = compare(comparable(kinds[of][field], a[field]), comparable(kinds[of][field], b[field]));
      if (c !== 0) return direction === 'DESC' ? -c : c;
    }
    return 0;
  };
  const all = from.filter(test).sort(order);
  return { all, ...window(given(last) ? all.toReversed() : all, first ?? last ?? page, given(last)) };
}

function window(all, asked, backward) {
  const shown = all.filter(visible);
  const items = shown.slice(0, asked);
  if (backward) items.reverse();
  const more = shown.length > asked;
  return { items, hasNextPage: !backward && more, hasPreviousPage: backward && more };
}

// connection is a list of all items, or of those that from returns for a parent.
const connection = (of, page, most, from = () => world[of]) => (parent, args) => {
  const { all, items, hasNextPage, hasPreviousPage } = list(of, from(parent), args, page, most);
  return {
    nodes: items,
    edges: items.map((node) => ({ node })),
    pageInfo: { hasNextPage, hasPreviousPage },
    totalCount: all.length,
  };
};

const booksOf = (author) => world.books.filter((b) => b.authorId === author.id);
const friendsOf = (author) => [...new Set(author.friendIds ?? [])].map((id) => byID('authors', id)).filter((f) => f);

const byID = (of, id) => world[of].find((item) => item.id === id && visible(item)) ?? null;

// The arguments of custom fields. Defaults were read before the scalars were ours, so they are numbers.
function sum({ a, bToo, more }) {
  if (a < 0n || bToo === null || more === null || (more ?? []).length > 3) bad();
  return a + BigInt(bToo) + (more ?? []).reduce((n, m) => n + BigInt(m), 0n);
}
const wrapped = (n) => BigInt.asIntN(64, n);

const mood = (text) => (text === 'bad' ? closed() : text);
// An error in the place of an element is one of the element.
const element = (text) => (text === 'bad' ? new GraphQLError('INTERNAL_SERVER_ERROR') : text);
const zone = (place) => (place.zone === '' ? null : ['north', 'south'].includes(place.zone) ? place.zone : closed());
const finite = (text) => (Number.isFinite(Number(text)) ? Number(text) : closed());

const resolvers = {
  Query: {
    author: (_, { id }) => byID('authors', id),
    book: (_, { id }) => byID('books', id),
    vault: (_, { id }) => (id === '' ? null : closed()),
    authors: connection('authors', 3, 10),
    books: connection('books', 4, 10),
    vaults: connection('vaults', 50, 200),
    eldest(_, { country, bornAfter }) {
      if (bornAfter === null || bornAfter < 1900) bad();
      if (bornAfter === 1913) closed();
      const of = world.authors.filter((a) => a.country === country && a.born > (bornAfter ?? 0));
      const [found] = of.sort((a, b) => a.born - b.born || Number(a.id) - Number(b.id));
      return found && visible(found) ? found : null;
    },
    add: (_, args) => wrapped(sum(args)),
    around(_, args) {
      sum(args);
      if (args.a === 0n) return null;
      const { home } = world.authors[Number(args.a % BigInt(world.authors.length))];
      return { city: 'Rome', zone: '', steps: 0, near: [home ?? world.place], mood: null };
    },
    crash: (_, args) => (sum(args), closed()),
  },
  Author: {
    country: ({ country }) => (['FR', 'GB', 'JP'].includes(country) ? country : closed()),
    rating: ({ rating }) => finite(rating),
    mood: (a) => mood(a.mood),
    whim: (a) => mood(a.whim),
    tags: ({ tags }) => tags ?? [],
    moods: ({ moods }) => (moods ?? []).map(element),
    whims: ({ whims }) => (whims ?? []).map(element),
    extra: (a) => (a.extraFails ? closed() : a.extra),
    friendIds: ({ friendIds }) => friendIds ?? [],
    books: (a) => world.books.filter((b) => b.authorId === a.id).sort((x, y) => (x.id < y.id ? -1 : 1)).slice(0, 2),
    best: (a) => (a.bestId ? byID('books', a.bestId) : null),
    friends: (a) => [...new Set(a.friendIds ?? [])].slice(0, 3).map((id) => byID('authors', id)).filter((f) => f),
    booksConnection: connection('books', 2, 10, booksOf),
    friendsConnection: connection('authors', 3, 10, friendsOf),
    lossesConnection: connection('vaults', 50, 200),
    lost: closed,
    losses: closed,
    shifted: (a, args) => wrapped(BigInt(a.id) + sum(args)),
    odd: (a, args) => (sum(args), Number(a.id) % 2 === 0 ? null : 'odd'),
    broken: (_, args) => (sum(args), closed()),
    shattered: (_, args) => (sum(args), closed()),
  },
  Book: {
    price: ({ price }) => finite(price),
    pages: ({ pages }) => (pages > 2147483647 ? closed() : pages),
    chapters: ({ chapters }) => chapters ?? [],
    words: ({ words }) => words ?? {},
    author: (b) => (b.authorId === '0' ? null : byID('authors', b.authorId)),
  },
  Place: { zone, near: ({ near }) => near ?? [], mood: (p) => mood(p.mood) },
  Chapter: { mood: (c) => mood(c.mood) },
};
for (const [type, fields] of Object.entries(resolvers)) {
  for (const [name, resolve] of Object.entries(fields)) schema.getType(type).getFields()[name].resolve = resolve;
}

async function answer({ text, operation, variables }) {
  let document;
  try {
    document = parse(text);
  } catch (error) {
    return { errors: [{ message: error.message }] };
  }
  const errors = validate(schema, document);
  if (errors.length > 0) return { errors };
  return execute({ schema, document, operationName: operation || undefined, variableValues: variables });
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { data, errors } = await answer(JSON.parse(line));
  const found = errors?.map(({ message, path, locations, extensions }) => ({ message, path, locations, code: extensions?.code }));
  console.log(JSON.stringify({ data, errors: found }).replaceAll(/\\?"@int64:(-?\d+)@\\?"/g, '$1'));
}
