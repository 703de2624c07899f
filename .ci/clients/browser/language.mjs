// The editor of the GraphQL page against the reference implementation, npm graphql, over the corpora of the packages parser and
// validate. The editor marks nothing in a document that the reference accepts, and something in one that it rejects, except for
// rules that the editor leaves to the server. Prettified documents have the same meaning, and do not change when they are
// prettified again. The editor accepts each beginning of each document with each position of the caret.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import * as graphql from 'graphql'
import { buildSchema, getIntrospectionQuery, graphqlSync, parse, print, validate, validateSchema } from 'graphql'
import { generated, mutated } from './generate.mjs'

const root = '../../../', at = new URL(root + 'query/graphql/internal/', import.meta.url)
const read = path => readFileSync(new URL(path, at), 'utf8')
const names = ['lex', 'schema', 'parse', 'variables', 'complete'].map(name => `${root}query/graphql/internal/playground/${name}.js`)
const shared = ['dom', 'jsontext', 'jsonvalue'].map(name => `${root}resource/httpbody/page/${name}.js`)
const modules = await Promise.all([...names, ...shared].map(name => import(name)))
const page = Object.assign({}, ...modules)

const reference = buildSchema(read('graphqltest/schema.graphql'))
assert.deepEqual(validateSchema(reference), [])
const introspected = query => {
	const answer = graphqlSync({ schema: reference, source: query })
	assert.equal(answer.errors, undefined)
	return answer.data
}
const schema = page.makeSchema(introspected(page.INTROSPECTION))

// The introspection query of the page selects all that the page reads from the query of the reference.
const whole = introspected(getIntrospectionQuery({ inputValueDeprecation: true, oneOf: true, specifiedByUrl: true, directiveIsRepeatable: true }))
assert.deepEqual([...page.makeSchema(whole).types.keys()], [...schema.types.keys()])

// left has the messages of the reference for rules that the editor leaves to the server.
const left = [
	/conflict/, /must select only one top level field/, /must not select an introspection/, /Maximum introspection depth/,
	/must be non-nullable to be used for OneOf/, /"Pick.id" must be non-null/, /Unexpected <EOF>/,
]
const documents = ['parser', 'validate'].flatMap(name => JSON.parse(read(`${name}/testdata/reference.json`))).map(x => x.text)
documents.push(...readFileSync(new URL('kitchen.graphql', import.meta.url), 'utf8').split('\n---\n'))
const corpora = [...documents]
for (const text of generated(reference, 1500)) documents.push(text, mutated(text))

// bare has the rules that the editor checks without a schema.
const bare = ['ExecutableDefinitions', 'UniqueOperationNames', 'LoneAnonymousOperation', 'KnownFragmentNames', 'NoUnusedFragments', 'NoFragmentCycles',
	'UniqueVariableNames', 'NoUndefinedVariables', 'NoUnusedVariables', 'UniqueArgumentNames', 'UniqueInputFieldNames', 'UniqueFragmentNames']
	.map(name => graphql[name + 'Rule'])

let accepted = 0, refused = 0, known = 0, carets = 0
for (const text of documents) {
	let tree, errors
	try {
		tree = parse(text)
		errors = validate(reference, tree).map(e => e.message)
	} catch (e) {
		errors = [e.message]
	}
	const marks = page.analyse(text, schema).problems.filter(p => !p.mild)
	for (const m of marks) assert.ok(m.s >= 0 && m.e <= text.length && m.s < m.e && m.message, `a mark without a place: ${JSON.stringify(m)} in ${text}`)
	if (errors.length === 0) {
		accepted++
		assert.deepEqual(marks, [], `accepted by the reference: ${text}`)
	} else if (errors.every(m => left.some(l => l.test(m)))) known++
	else {
		refused++
		assert.notEqual(marks.length, 0, `refused by the reference: ${text}: ${errors}`)
	}
	const alone = page.analyse(text, null).problems.filter(p => !p.message.endsWith('not null.'))
	if (!left.at(-1).test(errors)) assert.equal(alone.length === 0, tree !== undefined && validate(reference, tree, bare).length === 0, `without a schema: ${text}: ${JSON.stringify(alone)}`)
	if (!tree) continue
	const pretty = page.prettify(text)
	assert.equal(print(parse(pretty)), print(tree), `prettified: ${text}`)
	assert.equal(page.prettify(pretty), pretty, `prettified again: ${text}`)
	const comments = t => page.lex(t).filter(x => x.k === 'comment').map(x => x.v.trimEnd())
	assert.deepEqual(comments(pretty), comments(text), `comments of ${text}`)
}
for (const text of corpora.filter(t => t.length < 500)) {
	for (let n = 0; n <= text.length; n++) {
		const { here, problems } = page.analyse(text.slice(0, n), schema, n)
		const whole = page.analyse(text, schema, n)
		page.complete(here, text.slice(0, n), n, schema, { operations: [], fragments: new Map() })
		for (const x of page.complete(whole.here, text, n, schema, whole)) assert.ok(x.label, text)
		assert.ok(problems.length < 400, text)
		carets++
	}
}
assert.ok(accepted > 1000 && refused > 1000, `too few documents: ${accepted}, ${refused}`)

// The page can write an operation for each field of a root type.
let samples = 0
for (const [kind, type] of Object.entries(schema.roots)) {
	for (const field of type.fields.values()) {
		const { query, variables } = page.sample(schema, kind, field)
		assert.deepEqual(validate(reference, parse(query)).map(e => e.message), [], query)
		const { operations, problems } = page.analyse(query, schema)
		assert.deepEqual(problems, [], query)
		const inputs = new Map([...operations[0].variables.values()].map(v => [v.name, { ...v, needed: v.type.endsWith('!') }]))
		assert.deepEqual(page.analyseJSON(variables, schema, -1, inputs).problems, [], variables)
		samples++
	}
}

// choices has documents with a caret, which is |, and the labels that are offered first.
const choices = [
	['{ d| }', 'dog'], ['{ dog { | } }', 'id name friends owner barks height tags self __typename'], ['{ human(|) }', 'id note'],
	['{ human(note: {te|}) }', 'text'], ['{ thing(color: |) }', 'RED GREEN BLUE'], ['query($c: Col|)', 'Color'],
	['{ dog { ...| } } fragment F on Dog { id }', 'F on'], ['{ dog { name @inc| } }', 'include'], ['{ dog { name @include(|) } }', 'if'],
	['{ dog { na|me } }', 'name __typename'], ['|', 'query mutation subscription fragment'], ['{ dog { ... on | } }', 'Being Pet Dog Thing Animal'],
	['query Q($c: Color, $n: Int) { thing(color: $|) }', 'c'], ['{ dog { id } } # d|', ''], ['{ human(id: "d|") { id } }', ''],
	['{ paint|', ''], ['mutation { paint(color: G|) }', 'GREEN'], ['{ stones { col|: weight } }', 'color'], ['mutation { | }', 'note paint __typename'],
]
for (const [marked, want] of choices) {
	const caret = marked.indexOf('|'), text = marked.replace('|', ''), analysis = page.analyse(text, schema, caret)
	assert.equal(page.complete(analysis.here, text, caret, schema, analysis).map(x => x.label).slice(0, want.split(' ').length).join(' '), want, marked)
}

// The definition at an argument of a directive is the directive, which the docs can show.
const withDirective = '{ dog @include(if: true) { id } }'
const { thing } = page.analyse(withDirective, schema, withDirective.indexOf('if'))
assert.deepEqual([thing.field, thing.directive?.name], [undefined, 'include'])

// variables has texts and a part of the message, which is empty if the text is valid.
const inputs = new Map([['a', { name: 'a', type: 'Int!', needed: true }], ['f', { name: 'f', type: '[Filter!]' }], ['c', { name: 'c', type: 'Color' }]])
const variables = [
	['{"a": 1, "f": [{"ids": ["1", 2], "open": true, "sizes": [[1, null]]}], "c": "RED"}', ''], ['{"a": 1, "f": {"near": 1.5}}', ''], ['', 'a needs a value'],
	['{}', 'a needs a value'], ['{"a": "1"}', 'should be an Int'], ['{"a": 1.5}', 'should be an Int'], ['{"a": 2147483648}', 'should be an Int'],
	['{"a": null}', 'not null'], ['{"a": 1, "b": 2}', ''], ['{"a": 1, "c": "PINK"}', 'should be a Color'], ['{"a": 1, "c": true}', 'should be a Color'],
	['{"a": 1, "f": [{"nested": {"id": 1}}]}', 'has no id'], ['{"a": 1, "f": [{"open": null}]}', 'not null'], ['{"a": [1]}', 'not a list'],
	['{"a": {}}', 'not an object'], ['{"a": 1,}', 'Expected a name'], ['{"a": 01}', 'Expected a value'], ['{"a" 1}', 'Expected :'], ['[]', 'Expected {'],
	['{"a": 1} x', 'Expected nothing more'], ['{"a": 1', 'Expected , or }'], ['{"a": 1, "a": 2}', 'given twice'], ['{"a": "\\x"}', 'Expected a value'],
	['{"a": 1, "f": [{"pick": {"id": "1", "name": "x"}}]}', 'exactly one'], ['{"a": 1, "f": [{"pick": {"note": {}}}]}', 'needs text'],
]
for (const [text, want] of variables) {
	const messages = page.analyseJSON(text, schema, -1, inputs).problems.filter(p => !p.mild).map(p => p.message).join(' ')
	assert.ok(want ? messages.includes(want) : messages === '', `${text}: ${messages}`)
	for (let n = 0; n <= text.length; n++) page.analyseJSON(text.slice(0, n), schema, n, inputs)
}
assert.equal(page.prettyJSON('{"n":12345678901234567890.10,"a":[],"o":{"x":[1,{}]},"s":"\\u0041"}'),
	'{\n  "n": 12345678901234567890.10,\n  "a": [],\n  "o": {\n    "x": [\n      1,\n      {}\n    ]\n  },\n  "s": "\\u0041"\n}')
assert.equal(page.prettyJSON('{"a":1'), undefined)

// Values of JSON keep the source text of their numbers.
const exact = '{"a":[12345678901234567890.125,1e400,1.10,-0,9007199254740993,1.5,7],"s":"1.10 \\" 1e400","n":null}'
assert.equal(page.encode(page.decode(exact)), exact)
assert.deepEqual([page.decode('9007199254740993'), page.decode('7'), page.encode(undefined)], [9007199254740993n, 7, undefined])
assert.throws(() => page.decode('0x10'), SyntaxError)

// A repeated report changes the text of the status line, so that it is announced again.
const line = { textContent: '' }
globalThis.document = { getElementById: () => line }
const reported = ['a', 'a', 'a', '', ''].map(text => {
	page.report(text)
	return line.textContent
})
assert.deepEqual(reported, ['a', 'a\u00a0', 'a', '', ''])

console.log(`${accepted} documents accepted as by the reference, ${refused} marked, ${known} left to the server; ${carets} places of the caret, ${samples} samples`)
