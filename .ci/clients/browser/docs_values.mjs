// The documentation page in Chromium with a document of odd schemas: they refer to themselves, their limits
// exceed 2^53, and their values have formats. docs.mjs calls it; alone it runs with: node docs_values.mjs URL
//
// The page and its Content-Security-Policy are those of the shop at URL. The document and the responses are
// those below. Each wait has a limit.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { launch, pageIn } from './chromium.mjs'

const to = name => ({ $ref: `#/components/schemas/${name}` })
const orNull = name => ({ anyOf: [to(name), { type: 'null' }] })
const json = schema => ({ 'application/json': { schema } })
const operation = (id, schema, more) => ({
	operationId: id, summary: id, tags: ['All'], requestBody: { required: true, content: json(schema) },
	responses: { 200: { description: 'Done.', content: json(schema) } }, ...more,
})
const form = (format, more) => ({ type: 'string', format, ...more })
const file = id => ({
	operationId: id, summary: id, tags: ['All'], requestBody: { content: { 'image/png': {} } },
	responses: { 200: { description: 'Done.' } },
})
const reads = (id, media) => ({
	operationId: id, summary: id, tags: ['All'],
	responses: { 200: { description: 'Done.', content: { [media]: {} } } },
})
const schemas = {
	Tree: { type: 'object', required: ['left'], properties: {
		name: { type: 'string' }, left: orNull('Tree'), right: orNull('Tree'),
	} },
	Ping: { type: 'object', properties: { pong: orNull('Pong') } },
	Pong: { type: 'object', properties: { pings: { type: 'array', items: orNull('Ping') } } },
	Lists: { type: 'array', items: to('Lists') },
	constructor: { type: 'object', properties: {
		toString: { type: 'string' }, constructor: orNull('constructor'), missing: to('toString'),
	} },
	'Half%': { type: 'object', properties: { rest: orNull('Half%') } },
	Formats: { type: 'object', properties: {
		decimal: form('decimal', { maxLength: 4 }), duration: form('duration', { maxLength: 4 }),
		time: form('time'), local: form('time-local'), ipv4: form('ipv4'), ipv6: form('ipv6'),
		hostname: form('hostname', { maxLength: 9 }),
		email: form('email', { maxLength: 8 }), uri: form('uri'), short: { type: 'string', maxLength: 2 },
		code: { type: 'string', pattern: '^[A-Z]{3}$' }, low: { type: 'number', maximum: -2 },
		between: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 },
		tens: { type: 'integer', minimum: 5, multipleOf: 10 },
		two: { type: 'array', minItems: 2, items: { type: 'boolean' } },
		choice: { anyOf: [{ type: 'null' }, form('date'), { type: 'integer' }] },
	} },
	Big: '{"type":"object","properties":{' +
		'"id":{"type":"integer","format":"int64","default":9007199254740993,' +
		'"minimum":-9223372036854775808,"maximum":9223372036854775807},' +
		'"count":{"type":"integer","format":"uint64","example":18446744073709551615},' +
		'"over":{"type":"integer","exclusiveMinimum":9007199254740993},' +
		'"__proto__":{"type":"string","minLength":1,"maxLength":9223372036854775807}}}',
	Decimals: '{"type":"object","properties":{' +
		'"price":{"type":"number","default":1.10,"minimum":0.10,"maximum":1.10},' +
		'"low":{"type":"number","minimum":12345678901234567890.125},' +
		'"list":{"type":"array","items":{"type":"number"},"example":[1.0,1e400]}}}',
}
const paths = {}
for (const name of Object.keys(schemas)) paths[`/${name}`] = { post: operation(`post${name}`, to(name)) }
Object.assign(paths, {
	'/slow': { get: reads('slow', 'application/json') },
	'/quick': { get: reads('quick', 'application/json') },
	'/events': { get: reads('events', 'text/event-stream') }, '/long': { get: reads('long', 'text/plain') },
	'/first': { put: file('first') }, '/second': { put: file('second') },
	'/key': { get: { ...reads('key', 'application/json'), security: [{ Key: [] }] } },
})
// The name of the scheme is also that of a member of each object, and no value is entered for it.
const text = JSON.stringify({
	openapi: '3.1.0', info: { title: 'Odd', version: '1' }, paths, security: [{ constructor: [] }],
	components: { schemas, securitySchemes: {
		constructor: { type: 'http', scheme: 'bearer' }, Key: { type: 'apiKey', in: 'header', name: 'X-Field' },
	} },
}).replace(JSON.stringify(schemas.Big), schemas.Big).replace(JSON.stringify(schemas.Decimals), schemas.Decimals)

// within fails if a promise is not settled in time.
const within = (what, promise) => {
	let timer
	const late = new Promise((_, fail) => {
		timer = setTimeout(() => fail(new Error(`${what}: not in 20 s`)), 20_000)
	})
	return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// serve returns the URL of the page, and what the checks need of the server. shop is the URL of the shop.
async function serve(shop) {
	const docs = await fetch(`${shop}/docs`), policy = docs.headers.get('Content-Security-Policy')
	assert.match(policy, /script-src 'sha256-/, 'the policy of the page')
	const list = JSON.stringify([{ name: '', url: 'openapi.json' }]).replaceAll('"', '&quot;')
	const page = (await docs.text())
		.replace(/(<meta name="documents" content=")[^"]*/, (_, start) => start + list)
	const received = []
	let ended, arrived
	const eventsEnded = new Promise(done => { ended = done }), held = new Promise(done => { arrived = done })
	const server = createServer(async (request, response) => {
		const path = new URL(request.url, 'http://host').pathname
		let body = ''
		for await (const part of request) body += part
		const { authorization, 'x-field': key } = request.headers
		if (path !== '/docs' && path !== '/openapi.json') received.push({ body, authorization, key })
		const send = (type, value) => response.writeHead(200, { 'Content-Type': type }).end(value)
		if (path === '/docs') {
			response.setHeader('Content-Security-Policy', policy)
			send('text/html', page)
		} else if (path === '/openapi.json') send('application/json', text)
		else if (path === '/slow') arrived(() => send('application/json', '{"slow":true}'))
		else if (path === '/long') send('text/plain', 'x'.repeat(500_000) + 'the end')
		else if (path === '/events') {
			response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n')
			response.on('close', ended)
		} else send('application/json', '{"done":true}')
	})
	await new Promise(done => server.listen(0, '127.0.0.1', done))
	return {
		url: `http://127.0.0.1:${server.address().port}/docs`, received, held, eventsEnded,
		close: () => new Promise(done => { server.close(done); server.closeAllConnections() }),
	}
}

const parts = {
	async 'schemas that refer to themselves have a view'({ view, page }) {
		for (const name of Object.keys(schemas)) {
			await view(`post${name}`)
			await page.evaluate(n => { location.hash = `schema/${n}` }, name)
			await page.waitForFunction(n => document.querySelector('main h1')?.textContent === n, {}, name)
		}
		await page.evaluate(() => { location.hash = 'schema/__proto__' })
		await page.waitForFunction(() => document.querySelector('main h1')?.textContent.startsWith('Odd'))
		await view('postTree')
		const types = await page.$$eval('main .member .type', all => all.map(e => e.textContent))
		assert.ok(types.includes('Tree'), `types: ${types}`)
		assert.equal(await page.$eval('main a.more', a => a.getAttribute('href')), '#schema/Tree')
	},

	async 'limits and examples are shown and sent as the document has them'({ view, page, server }) {
		await view('postBig')
		const limits = await page.$$eval('main .member .limit', all => all.map(e => e.textContent))
		assert.ok(limits.includes('-9223372036854775808 to 9223372036854775807'), `limits: ${limits}`)
		assert.ok(limits.includes('default 9007199254740993'), `limits: ${limits}`)
		await page.click('#send')
		await page.waitForSelector('#answer .good')
		const { body, authorization } = server.received.at(-1)
		assert.equal(body.replace(/\s/g, ''), '{"id":9007199254740993,"count":18446744073709551615,' +
			'"over":9007199254740994,"__proto__":"text"}')
		assert.equal(authorization, undefined)
		await page.click('#tabs-code-Go')
		assert.match(await page.$eval('#panel pre.sample', e => e.textContent), /Count\s+uint64/)
	},

	async 'numbers keep their text, also without JSON.rawJSON'({ view, page, server }) {
		const check = async () => {
			await page.reload()
			await view('postDecimals')
			const limits = await page.$$eval('main .member .limit', all => all.map(e => e.textContent))
			for (const want of ['0.10 to 1.10', 'default 1.10', 'at least 12345678901234567890.125']) {
				assert.ok(limits.includes(want), `limits: ${limits}`)
			}
			await page.click('#send')
			await page.waitForSelector('#answer .good')
			assert.equal(server.received.at(-1).body.replace(/\s/g, ''),
				'{"price":1.10,"low":12345678901234567890.125,"list":[1.0,1e400]}')
			await page.click('#tabs-code-TypeScript')
			assert.match(await page.$eval('#panel pre.sample', e => e.textContent), /body: "{\\n {2}\\"price\\": 1\.10,/)
		}
		await check()
		const { identifier } = await page.evaluateOnNewDocument(() => { delete JSON.rawJSON })
		await check()
		await page.removeScriptToEvaluateOnNewDocument(identifier)
		await page.reload()
	},

	async 'the first body has a value of each format within its limits'({ view, page }) {
		await view('postFormats')
		assert.deepEqual(JSON.parse(await page.$eval('#panel textarea', e => e.value)), {
			decimal: '1', duration: 'P1D', time: '12:00:00Z', local: '12:00:00', ipv4: '192.0.2.1',
			ipv6: '2001:db8::1', hostname: 'a.example', email: 'a@b.de', uri: 'https://example.com/',
			short: 'te', code: 'matches ^[A-Z]{3}$',
			low: -2, between: 0.25, tens: 10, two: [true, true], choice: '2026-01-31',
		})
	},

	async 'an API key is sent in the field that its scheme names'({ view, page, server }) {
		await view('key')
		await page.click('#auth')
		await page.type('#credential-Key', 's3cret')
		await page.click('#login button[value=save]')
		await page.click('#send')
		await page.waitForSelector('#answer .good')
		assert.equal(server.received.at(-1).key, 's3cret')
	},

	async 'Send of a second operation leaves the first request alone'({ view, page, response, server }) {
		await view('slow')
		await page.click('#send')
		const respond = await within('the slow request', server.held)
		await view('quick')
		assert.equal(await page.$eval('#send', e => e.textContent), 'Send')
		await page.click('#send')
		await response('done')
		respond()
		await view('slow')
		await response('slow')
	},

	async 'a stream ends when its view is left'({ view, page, response, server }) {
		await view('events')
		await page.click('#send')
		await response('data: 1')
		await view('quick')
		await within('the end of the stream', server.eventsEnded)
	},

	async 'the file that is sent is shown'({ view, page }) {
		const names = () => page.$eval('#panel input[type=file]', e => [...e.files].map(f => f.name))
		await view('first')
		await (await page.$('#panel input[type=file]')).uploadFile(new URL(import.meta.url).pathname)
		await view('second')
		assert.deepEqual(await names(), [])
		await view('first')
		assert.deepEqual(await names(), ['docs_values.mjs'])
	},

	async 'a long response is cut with a notice, and can be saved'({ view, page, folder }) {
		await view('long')
		await page.click('#send')
		await page.waitForSelector('#answer a[download]')
		const shown = await page.$eval('#answer', e => e.textContent)
		assert.match(shown, /The first 500,000 of 500007 characters are shown/)
		const client = await page.createCDPSession(), behavior = {
			behavior: 'allow', downloadPath: folder, eventsEnabled: true,
			browserContextId: page.browserContext().id,
		}
		await client.send('Browser.setDownloadBehavior', behavior)
		const saved = new Promise(done => {
			let name
			client.on('Browser.downloadWillBegin', e => { name = e.suggestedFilename })
			client.on('Browser.downloadProgress', e => { if (e.state === 'completed') done(name) })
		})
		await page.click('#answer a[download]')
		const name = await within('the saved file', saved)
		assert.match(name, /^long\b/)
		assert.equal(readFileSync(join(folder, name), 'utf8').slice(-7), 'the end')
	},

	async 'single keys do nothing in text that can be edited, and can be switched off'({ view, page }) {
		const acts = selector => page.evaluate(s => {
			const event = new KeyboardEvent('keydown', { key: 'h', bubbles: true, cancelable: true })
			return !document.querySelector(s).dispatchEvent(event)
		}, selector)
		const toggle = async () => {
			await page.click('#help')
			await page.click('#single-keys')
			await page.click('#keys button')
		}
		await view('quick')
		assert.equal(await acts('#main'), true)
		await page.evaluate(() => {
			const editable = document.createElement('p')
			editable.contentEditable = 'true'
			editable.id = 'editable'
			editable.textContent = 'text'
			document.querySelector('header').append(editable)
		})
		assert.equal(await acts('#editable'), false, 'in text that can be edited')
		await toggle()
		assert.equal(await acts('#main'), false, 'switched off')
		await page.reload()
		await view('quick')
		assert.equal(await acts('#main'), false, 'switched off, in the next visit')
		await toggle()
		assert.equal(await acts('#main'), true, 'switched on')
	},

	async 'Copy without a clipboard leaves the text selected'({ view, page }) {
		await page.evaluate(() => {
			Object.defineProperty(navigator, 'clipboard', { value: undefined })
			document.execCommand = () => false
		})
		await view('quick')
		await page.click('#tabs-code-curl')
		await page.click('#panel button.copy')
		await page.waitForFunction(() =>
			document.querySelector('#panel button.copy').textContent === 'Press Ctrl-C')
		const selected = await page.evaluate(() => getSelection().toString() || document.activeElement.value)
		assert.match(selected, /^curl/)
	},
}

// values calls the parts one after another in one page. The last one takes the clipboard from it.
export async function values(shop) {
	const { context, folder, close } = await launch(), server = await serve(shop), failed = []
	try {
		const page = await pageIn(await context(), { timeout: 20_000 }), errors = []
		page.on('pageerror', e => errors.push(e.message))
		page.on('console', m => { if (m.type() === 'error') errors.push(m.text()) })
		const view = async id => {
			await page.evaluate(f => { location.hash = f }, id)
			await page.waitForFunction(h => document.querySelector('main h1')?.textContent === h, {}, id)
		}
		const response = text => page.waitForFunction(t =>
			document.querySelector('#answer pre')?.textContent.includes(t), {}, text)
		await page.goto(server.url)
		await page.waitForSelector('main h1')
		for (const [name, part] of Object.entries(parts)) {
			try {
				await part({ page, view, response, server, folder })
				assert.deepEqual(errors, [], 'errors of the page')
				console.log(`ok    docs: ${name}`)
			} catch (e) {
				console.log(`FAIL  docs: ${name}: ${e.message} ${errors}`)
				failed.push(name)
			}
			errors.length = 0
		}
	} finally {
		await server.close()
		await close()
	}
	assert.deepEqual(failed, [], 'parts that failed')
}

if (process.argv[1].endsWith('docs_values.mjs')) await values(process.argv[2])
