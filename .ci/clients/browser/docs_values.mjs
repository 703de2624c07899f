// The documentation page in Chromium with a document of odd schemas: they refer to themselves, their limits exceed 2^53, and their
// values have formats. docs.mjs calls it; alone it runs with: node docs_values.mjs
//
// The page is made of the files of package docspage, and the document and the responses are those below.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { launch, pageIn } from './chromium.mjs'

const read = name => readFileSync(new URL(`../../../resource/openapi/docspage/${name}`, import.meta.url), 'utf8')
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
	operationId: id, summary: id, tags: ['All'], responses: { 200: { description: 'Done.', content: { [media]: {} } } },
})
const schemas = {
	Tree: { type: 'object', required: ['left'], properties: { name: { type: 'string' }, left: orNull('Tree'), right: orNull('Tree') } },
	Ping: { type: 'object', properties: { pong: orNull('Pong') } },
	Pong: { type: 'object', properties: { pings: { type: 'array', items: orNull('Ping') } } },
	Lists: { type: 'array', items: to('Lists') },
	constructor: { type: 'object', properties: { toString: { type: 'string' }, constructor: orNull('constructor') } },
	Formats: { type: 'object', properties: {
		decimal: form('decimal', { maxLength: 4 }), duration: form('duration', { maxLength: 4 }), time: form('time'),
		local: form('time-local'), ipv4: form('ipv4'), ipv6: form('ipv6'), hostname: form('hostname', { maxLength: 9 }),
		email: form('email', { maxLength: 8 }), uri: form('uri'), short: { type: 'string', maxLength: 2 },
		code: { type: 'string', pattern: '^[A-Z]{3}$' }, low: { type: 'number', maximum: -2 },
		between: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 }, tens: { type: 'integer', minimum: 5, multipleOf: 10 },
		two: { type: 'array', minItems: 2, items: { type: 'boolean' } },
	} },
	Big: '{"type":"object","properties":{"id":{"type":"integer","format":"int64","minimum":-9223372036854775808,' +
		'"maximum":9223372036854775807,"default":9007199254740993},' +
		'"count":{"type":"integer","format":"uint64","example":18446744073709551615}}}',
}
const paths = {}
for (const name of Object.keys(schemas)) paths[`/${name}`] = { post: operation(`post${name}`, to(name)) }
Object.assign(paths, {
	'/slow': { get: reads('slow', 'application/json') }, '/quick': { get: reads('quick', 'application/json') },
	'/events': { get: reads('events', 'text/event-stream') }, '/long': { get: reads('long', 'text/plain') },
	'/first': { put: file('first') }, '/second': { put: file('second') },
})
const text = JSON.stringify({ openapi: '3.1.0', info: { title: 'Odd', version: '1' }, paths, components: { schemas } })
	.replace(JSON.stringify(schemas.Big), schemas.Big)

// serve returns the URL of the page, and what the checks need of the server.
async function serve() {
	const scripts = read('docspage.go').match(/var scripts = .*?\{(.*?)\n\}/s)[1].match(/[a-z]+\.js/g).map(read).join('')
	const page = ['documents', 'style', 'title', 'script'].reduce((html, part, i) => html.replaceAll(`{{${part}}}`,
		() => ['[{&quot;name&quot;:&quot;&quot;,&quot;url&quot;:&quot;openapi.json&quot;}]', read('page.css'), 'Odd', scripts][i]),
	read('page.html'))
	const received = [], held = []
	let ended
	const eventsEnded = new Promise(done => { ended = done })
	const server = createServer(async (request, response) => {
		const path = new URL(request.url, 'http://host').pathname
		let body = ''
		for await (const part of request) body += part
		if (path !== '/docs' && path !== '/openapi.json') received.push({ path, body })
		const send = (type, value) => response.writeHead(200, { 'Content-Type': type }).end(value)
		if (path === '/docs') send('text/html', page)
		else if (path === '/openapi.json') send('application/json', text)
		else if (path === '/slow') held.push(() => send('application/json', '{"slow":true}'))
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
		assert.equal(server.received.at(-1).body.replace(/\s/g, ''), '{"id":9007199254740993,"count":18446744073709551615}')
		await page.click('#tabs-code-Go')
		assert.match(await page.$eval('#panel pre.sample', e => e.textContent), /Count\s+uint64/)
	},

	async 'the first body has a value of each format within its limits'({ view, page }) {
		await view('postFormats')
		assert.deepEqual(JSON.parse(await page.$eval('#panel textarea', e => e.value)), {
			decimal: '1', duration: 'P1D', time: '12:00:00Z', local: '12:00:00', ipv4: '192.0.2.1', ipv6: '2001:db8::1',
			hostname: 'a.example', email: 'a@b.de', uri: 'https://example.com/', short: 'te', code: 'matches ^[A-Z]{3}$',
			low: -2, between: 0.25, tens: 10, two: [true, true],
		})
	},

	async 'Send of a second operation leaves the first request alone'({ view, page, server }) {
		await view('slow')
		await page.click('#send')
		while (!server.held.length) await new Promise(done => setTimeout(done, 10))
		await view('quick')
		assert.equal(await page.$eval('#send', e => e.textContent), 'Send')
		await page.click('#send')
		await page.waitForFunction(() => document.querySelector('#answer pre')?.textContent.includes('done'))
		server.held.pop()()
		await view('slow')
		await page.waitForFunction(() => document.querySelector('#answer pre')?.textContent.includes('slow'))
	},

	async 'a stream ends when its view is left'({ view, page, server }) {
		await view('events')
		await page.click('#send')
		await page.waitForFunction(() => document.querySelector('#answer pre')?.textContent.includes('data: 1'))
		await view('quick')
		await server.eventsEnded
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

	async 'a long response is cut with a notice, and can be saved'({ view, page }) {
		await view('long')
		await page.click('#send')
		await page.waitForSelector('#answer a[download]')
		assert.match(await page.$eval('#answer', e => e.textContent), /The first 500,000 of 500007 characters are shown/)
		const saved = await page.$eval('#answer a[download]', async a => (await (await fetch(a.href)).text()).slice(-7))
		assert.equal(saved, 'the end')
	},

	async 'Copy without a clipboard leaves the text selected'({ view, page }) {
		await page.evaluate(() => {
			Object.defineProperty(navigator, 'clipboard', { value: undefined })
			document.execCommand = () => false
		})
		await view('quick')
		await page.click('#panel button.copy')
		await page.waitForFunction(() => document.querySelector('#panel button.copy').textContent === 'Press Ctrl-C')
		assert.match(await page.evaluate(() => getSelection().toString() || document.activeElement.value), /^curl/)
	},
}

export async function values() {
	const { context, close } = await launch(), server = await serve(), failed = []
	try {
		for (const [name, part] of Object.entries(parts)) {
			const window = await context(), page = await pageIn(window, { timeout: 20_000 }), errors = []
			page.on('pageerror', e => errors.push(e.message))
			const view = async id => {
				await page.evaluate(f => { location.hash = f }, id)
				await page.waitForFunction(h => document.querySelector('main h1')?.textContent === h, {}, id)
			}
			try {
				await page.goto(server.url)
				await page.waitForSelector('main h1')
				await part({ page, view, server })
				assert.deepEqual(errors, [], 'errors of the page')
				console.log(`ok    docs: ${name}`)
			} catch (e) {
				console.log(`FAIL  docs: ${name}: ${e.message} ${errors}`)
				failed.push(name)
			}
			await window.close()
		}
	} finally {
		await server.close()
		await close()
	}
	assert.deepEqual(failed, [], 'parts that failed')
}

if (process.argv[1].endsWith('docs_values.mjs')) await values()
