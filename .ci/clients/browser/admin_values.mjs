// Checks of what the forms of the admin page read and send. They need a document but no API, so the modules of the page are
// imported into an empty one.
import assert from 'node:assert/strict'
import { serveModules } from './modules.mjs'

const modules = [
	'/resource/httpbody/page/jsonvalue.js',
	...['session', 'catalog', 'api', 'patch', 'controls', 'item'].map(name => `/resource/admin/page/${name}.js`),
]
const names = 'decode, encode, control, membersOf, patchOf, itemView, catalog, call, config, authorize'

const text = { type: 'string' }, place = { type: 'object', fields: [{ name: 'city', type: 'string', nullable: true }, { name: 'pin', type: 'string', writeOnly: true }] }

// stored has members as JSON, undefined if they are absent. A form that shows them must read them unchanged.
const stored = [
	{ what: 'empty nullable text', field: { ...text, nullable: true }, value: '""' },
	{ what: 'null text', field: { ...text, nullable: true }, value: 'null' },
	{ what: 'absent text', field: text },
	{ what: 'absent required text', field: { ...text, required: true } },
	{ what: 'text with a line break', field: { ...text, maxLength: 10 }, value: '"a\\nb"' },
	{ what: 'text with CRLF', field: text, value: '"a\\r\\nb"' },
	{ what: 'text of a format with a line break', field: { ...text, format: 'uri' }, value: '"a\\nb"' },
	{ what: 'text with a default', field: { ...text, default: 'new' } },
	{ what: 'large integer', field: { type: 'integer' }, value: '9007199254740993' },
	{ what: 'text in a number', field: { type: 'number' }, value: '"five"' },
	{ what: 'number with a default', field: { type: 'number', default: 3 } },
	{ what: 'value outside of the enum', field: { ...text, enum: ['a', 'b'], required: true }, value: '"c"' },
	{ what: 'enum with a default', field: { ...text, enum: ['a', 'b'], default: 'b' } },
	{ what: 'null enum', field: { ...text, enum: ['a', 'b'], nullable: true, default: 'b' }, value: 'null' },
	{ what: 'null boolean', field: { type: 'boolean', nullable: true, required: true }, value: 'null' },
	{ what: 'boolean with a default', field: { type: 'boolean', default: true } },
	{ what: 'secret text', field: { ...text, writeOnly: true, required: true, maxLength: 500 } },
	{ what: 'secret boolean', field: { type: 'boolean', writeOnly: true, required: true } },
	{ what: 'secret array', field: { type: 'array', writeOnly: true, required: true, items: text } },
	{ what: 'secret object', field: { ...place, writeOnly: true, required: true } },
	{ what: 'null object', field: { ...place, nullable: true, required: true }, value: 'null' },
	{ what: 'object with null and a secret', field: place, value: '{"city":null}' },
	{ what: 'null array', field: { type: 'array', nullable: true, required: true, items: text }, value: 'null' },
	{ what: 'array of texts', field: { type: 'array', items: { ...text, nullable: true } }, value: '["",null,"a\\nb"]' },
	{ what: 'array with a null object', field: { type: 'array', items: { ...place, nullable: true } }, value: '[null,{"city":""}]' },
	{ what: 'map with null', field: { type: 'map' }, value: '{"a":{"b":null},"c":9007199254740993}' },
	{
		what: 'numbers in a map', field: { type: 'map' },
		value: '{"a":12345678901234567890.125,"b":[1e400,1.10,-0,1E2],"c":"1.10 \\"2.20","d":1.5}',
	},
	{ what: 'number of any type', field: { type: 'any' }, value: '1.10' },
	{ what: 'decimal', field: { type: 'number' }, value: '12345678901234567890.125' },
	{
		what: 'array of decimals', field: { type: 'array', items: { type: 'number' } },
		value: '[1.10,1e400,9007199254740993]',
	},
	{ what: 'enum of decimals', field: { type: 'number', enum: [1, 2] }, value: '2.0' },
	{ what: 'null of any type', field: { type: 'any' }, value: 'null' },
]

// entered has what the user writes into the control, and what the form reads then.
const entered = [
	{ what: 'nullable text is emptied', field: { ...text, nullable: true }, value: '"a"', input: '', want: '{"v":null}' },
	{ what: 'text is emptied', field: text, value: '"a"', input: '', want: '{"v":""}' },
	{ what: 'line is added', field: text, value: '"a\\nb"', input: 'a\nb\nc', want: '{"v":"a\\nb\\nc"}' },
	{ what: 'integer', field: { type: 'integer' }, value: '1', input: '9007199254740993', want: '{"v":9007199254740993}' },
	{
		what: 'decimal', field: { type: 'number' }, value: '1', input: '12345678901234567890.10',
		want: '{"v":12345678901234567890.10}',
	},
	{ what: 'hexadecimal text', field: { type: 'number' }, value: '1', input: '0x10', want: '{"v":"0x10"}' },
	{ what: 'decimal without a zero', field: { type: 'number' }, value: '1', input: '-.50', want: '{"v":-0.50}' },
	{ what: 'integer with zeros', field: { type: 'integer' }, value: '1', input: '+007', want: '{"v":7}' },
	{ what: 'integer with an exponent', field: { type: 'integer' }, value: '1', input: '1e3', want: '{"v":1000}' },
	{
		what: 'map of decimals', field: { type: 'map' }, value: '{}', input: '{"a":[1.10,1e400]}',
		want: '{"v":{"a":[1.10,1e400]}}',
	},
	{ what: 'enum', field: { ...text, enum: ['a', 'b'], required: true }, value: '"c"', input: '1', want: '{"v":"b"}' },
	{ what: 'boolean is unset', field: { type: 'boolean', nullable: true, required: true }, value: 'true', input: '', want: '{"v":null}' },
	{ what: 'secret', field: { ...text, writeOnly: true, maxLength: 500 }, input: 's', want: '{"v":"s"}' },
	{ what: 'new item with a default', field: { ...text, default: 'new' }, fresh: true, want: '{"v":"new"}' },
	{ what: 'new item with a required boolean', field: { type: 'boolean', required: true }, fresh: true, want: '{"v":false}' },
	{ what: 'new item with a required text', field: { ...text, required: true }, fresh: true, want: '{"v":""}' },
	{ what: 'new item with an optional number', field: { type: 'number' }, fresh: true, want: '{}' },
]

// patches has two versions of an item and the patch between them.
const patches = [
	{ what: 'nothing', before: '{"a":{"b":1,"c":null}}', after: '{"a":{"c":null,"b":1}}', want: 'null' },
	{ what: 'members', before: '{"a":1,"b":2,"n":"x"}', after: '{"a":1,"c":3,"n":null}', want: '{"value":{"b":null,"n":null,"c":3},"type":"application/merge-patch+json"}' },
	{ what: 'nested member', before: '{"a":{"b":1,"c":2}}', after: '{"a":{"b":1,"c":3}}', want: '{"value":{"a":{"c":3}},"type":"application/merge-patch+json"}' },
	{
		what: 'number beside others', before: '{"m":{"a":1.10,"b":1,"c":[1e400]}}',
		after: '{"m":{"c":[1e400],"a":1.10,"b":2.0}}',
		want: '{"value":{"m":{"b":2.0}},"type":"application/merge-patch+json"}',
	},
	{
		what: 'number to another', before: '{"a":1.10,"b":{"c":null,"d":1.10}}',
		after: '{"a":{"e":1.20},"b":{"c":null,"d":1.20}}',
		want: '{"value":[{"op":"replace","path":"/a","value":{"e":1.20}},' +
			'{"op":"replace","path":"/b/d","value":1.20}],"type":"application/json-patch+json"}',
	},
	{ what: 'null in an array', before: '{"a":[1]}', after: '{"a":[{"b":null}]}', want: '{"value":{"a":[{"b":null}]},"type":"application/merge-patch+json"}' },
	{ what: 'nested null is set', before: '{"a":{"b/c":1}}', after: '{"a":{"b/c":null}}', want: '{"value":[{"op":"replace","path":"/a/b~1c","value":null}],"type":"application/json-patch+json"}' },
	{ what: 'nested null is added', before: '{"z":1}', after: '{"z":2,"a":{"b":null}}', want: '{"value":[{"op":"replace","path":"/z","value":2},{"op":"add","path":"/a","value":{"b":null}}],"type":"application/json-patch+json"}' },
	{ what: 'nested null is removed', before: '{"a":{"b":null,"c":1}}', after: '{"a":{"c":1}}', want: '{"value":[{"op":"remove","path":"/a/b"}],"type":"application/json-patch+json"}' },
]

/* global decode, encode, control, membersOf, patchOf, itemView, catalog, call, config, authorize */

// readAll and patchAll run in the page, with the names of its modules.
const readAll = cases => cases.map(({ field, value, fresh = false, input }) => {
	const before = decode(value === undefined ? '{}' : `{"v":${value}}`)
	const it = control({ name: 'v', ...field }, before.v, fresh)
	if (input !== undefined) it.node.querySelector('input, textarea, select').value = input
	return encode(membersOf(new Map([['v', it]]), before))
})
const patchAll = cases => cases.map(({ before, after }) => encode(patchOf(decode(before), decode(after))))

// removeSources makes the browser have no source texts of numbers.
const removeSources = () => {
	const { parse } = JSON
	JSON.parse = (text, f) => parse(text, f && function (key, value) { return f.call(this, key, value) })
	delete JSON.rawJSON
}

// conflicts saves an item that is changed by another client before the first and the second request. It returns the item.
const conflicts = async () => {
	let item = { id: 1, address: { city: 'Rome', zip: '1' }, note: '' }, revision = 1, faster = [{ note: 'theirs' }, { note: 'theirs again' }]
	window.fetch = async (path, { method, headers, body }) => {
		if (method === 'PATCH' && faster.length) {
			item = { ...item, ...faster.shift() }
			revision++
		}
		if (method === 'PATCH' && headers['If-Match'] !== `"${revision}"`) return new Response('{}', { status: 412, headers: { 'Content-Type': 'application/problem+json' } })
		if (method === 'PATCH') item = { ...item, ...JSON.parse(body), address: { ...item.address, ...JSON.parse(body).address } }
		return new Response(JSON.stringify(item), { headers: { 'Content-Type': 'application/json', ETag: `"${revision}"` } })
	}
	const fields = [{ name: 'id', type: 'integer', readOnly: true }, { name: 'note', type: 'string' },
		{ name: 'address', type: 'object', required: true, fields: [{ name: 'city', type: 'string' }, { name: 'zip', type: 'string' }] }]
	const { node } = await itemView({ name: 'users', id: 'id', fields, operations: ['get', 'patch'] }, 1)
	document.body.append(node)
	const city = [...node.querySelectorAll('label')].find(l => l.textContent === 'City').control
	city.value = 'Milan'
	node.querySelector('form').requestSubmit()
	for (let n = 0; n < 2; n++) {
		while (!document.querySelector('dialog.conflict[open]')) await new Promise(done => setTimeout(done, 10))
		const dialog = document.querySelector('dialog.conflict')
		dialog.querySelector('button.main').click()
		while (dialog.isConnected) await new Promise(done => setTimeout(done, 10))
	}
	while (document.getElementById('notice').textContent !== 'Saved.') await new Promise(done => setTimeout(done, 10))
	return item
}

// anonymous sends two writes to an API that refuses the keys of anonymous callers. It returns which requests had a key, and
// the status of the error that a page with a login gets.
const anonymous = async () => {
	const keyed = []
	window.fetch = async (path, { headers }) => {
		keyed.push('Idempotency-Key' in headers)
		const refused = keyed.at(-1) && { errors: [{ header: 'Idempotency-Key', code: 'anonymous' }] }
		return new Response(JSON.stringify(refused || {}), { status: refused ? 400 : 200, headers: { 'Content-Type': 'application/json' } })
	}
	catalog.keyed = true
	for (let n = 0; n < 2; n++) await call('POST', '/notes', { value: {} })
	authorize('')
	config.login = {}
	const { status } = await call('POST', '/notes', { value: {} }).catch(error => error)
	return { keyed, status }
}

// checkValues runs all checks in a page of a browser context.
export async function checkValues(context) {
	const html = '<!doctype html><meta name="config" content="{}"><div id="notice"></div><p id="status"></p><dialog id="login"></dialog>'
	const open = async before => {
		const page = await context.newPage()
		await serveModules(page, html)
		if (before) await page.evaluateOnNewDocument(before)
		await page.goto('http://127.0.0.1:1/')
		return page
	}
	// The last page is in front: dialogs of others have no event close.
	const oldPage = await open(removeSources), page = await open()
	const runIn = (page, f, ...args) => page.evaluate(`(async () => {
		const { ${names} } = Object.assign({}, ...await Promise.all(${JSON.stringify(modules)}.map(path => import(path))))
		return (${f})(...${JSON.stringify(args)})
	})()`)
	const run = (...call) => runIn(page, ...call), old = (...call) => runIn(oldPage, ...call)
	const table = (what, cases, got, want) => assert.deepEqual(
		Object.fromEntries(cases.map((c, i) => [c.what, got[i]])), Object.fromEntries(cases.map(c => [c.what, want(c)])), what)
	table('untouched', stored, await run(readAll, stored), c => c.value === undefined ? '{}' : `{"v":${c.value}}`)
	table('untouched without JSON.rawJSON', stored, await old(readAll, stored),
		c => c.value === undefined ? '{}' : `{"v":${c.value}}`)
	table('entered without JSON.rawJSON', entered, await old(readAll, entered), c => c.want)
	table('patches without JSON.rawJSON', patches, await old(patchAll, patches), c => c.want)
	table('entered', entered, await run(readAll, entered), c => c.want)
	table('patches', patches, await run(patchAll, patches), c => c.want)
	assert.deepEqual(await run(conflicts), { id: 1, address: { city: 'Milan', zip: '1' }, note: 'theirs again' }, 'two conflicts')
	assert.deepEqual(await run(anonymous), { keyed: [true, false, false, true], status: 401 }, 'an anonymous caller')
	await page.close()
	await oldPage.close()
}
