// Checks of the admin page with an API in the page itself, which holds a response until the check releases it. Nothing
// here waits for a time: timers that matter are run by the check.
import assert from 'node:assert/strict'
import { serveModules, source } from './modules.mjs'

const folder = 'resource/admin/page/'
const fill = {
	config: '{&quot;base&quot;:&quot;/api&quot;,&quot;title&quot;:&quot;Shop&quot;}', title: 'Shop',
	style: source(folder + 'page.css'), script: `import '/${folder}app.js'`,
}
const html = source(folder + 'page.html').replace(/\{\{(\w+)\}\}/g, (_, name) => fill[name])

const operations = ['list', 'get', 'create', 'patch', 'delete', 'restore', 'watch']
const fields = [{ name: 'id', type: 'integer', readOnly: true }, { name: 'note', type: 'string' }]
const description = {
	keyed: false, files: [], imports: [], commands: [{ name: 'orders/build', input: [], job: 'orders' }],
	resources: ['orders', 'texts'].map(name => ({ name, id: 'id', fields, operations, maxPageSize: 50 })),
}

// serve runs in the page before its scripts. api has the requests, what is held, and the streams of events.
function serve(description) {
	const api = window.api = { requests: [], hold: [], held: [], streams: [], answers: {} }
	const item = { id: 5, note: 'first' }
	const usual = {
		'GET description.json': { value: description }, 'GET /api/orders': { value: { items: [item] }, headers: { 'Event-Cursor': 'c1' } },
		'GET /api/orders/5': { value: item, headers: { ETag: '"1"', 'Event-Cursor': 'c1' } }, 'GET /api/orders/9': { status: 410, value: {} },
		'POST /api/orders': { status: 201, value: { ...item, id: 6 } }, 'PATCH /api/orders/5': { value: { ...item, note: 'second' } },
		'DELETE /api/orders/5': { status: 204 }, 'POST /api/orders/9/restore': { value: { ...item, id: 9 } },
		'POST /api/orders/build': { status: 202, headers: { Location: '/api/orders/7' } },
	}
	const streamOf = (path, { headers, signal }) => {
		const stream = { path, from: headers['Last-Event-ID'] ?? '', ended: signal.aborted }
		api.streams.push(stream)
		const body = new ReadableStream({
			start(controller) {
				stream.send = text => controller.enqueue(new TextEncoder().encode(text))
				signal.addEventListener('abort', () => {
					stream.ended = true
					controller.error(signal.reason)
				})
			},
		})
		return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
	}
	window.fetch = async (url, options) => {
		if (options.headers.Accept === 'text/event-stream') return streamOf(url, options)
		const name = `${options.method ?? 'GET'} ${url.split('?')[0]}`
		api.requests.push({ name, headers: options.headers, body: options.body })
		if (api.hold.includes(name)) await new Promise(release => api.held.push({ name, release }))
		const { status = 200, value, headers } = api.answers[name] ?? usual[name]
		const type = status < 400 ? 'application/json' : 'application/problem+json'
		return new Response(value && JSON.stringify(value), { status, headers: { 'Content-Type': type, ...headers } })
	}
}

async function open(context, fragment, before) {
	const page = await context.newPage()
	page.faults = []
	page.on('pageerror', e => page.faults.push(e.message))
	await serveModules(page, html)
	await page.evaluateOnNewDocument(serve, description)
	if (before) await page.evaluateOnNewDocument(before)
	await page.goto(`http://127.0.0.1:1/admin/${fragment}`)
	await page.waitForSelector('#view h1')
	return page
}

const until = (page, f, what, ...args) => page.waitForFunction(f, { polling: 20, timeout: 30_000 }, ...args).catch(async e =>
	assert.fail(`${what}: ${e.message}; ${await page.$eval('main', e => e.textContent)}`))
const heading = (page, h) => until(page, h => document.querySelector('#view h1')?.textContent === h, `the heading is ${h}`, h)
const noticed = (page, n) => until(page, n => document.getElementById('notice').textContent.includes(n), `the notice has ${n}`, n)
const isHeld = (page, name) => until(page, name => window.api.held.some(r => r.name === name), `${name} is held`, name)
const release = page => page.evaluate(() => { for (const r of window.api.held.splice(0)) r.release() })
const hold = (page, name) => page.evaluate(name => window.api.hold.push(name), name)
const go = (page, hash) => page.evaluate(hash => { location.hash = hash }, hash)
const press = (page, text) => page.evaluate(text => {
	const buttons = (document.querySelector('dialog[open]') ?? document.querySelector('main')).querySelectorAll('button')
	return [...buttons].find(b => b.textContent === text).click()
}, text)
const note = page => page.$eval('#view form.item input', e => e.value)

// late has writes with a response that arrives when the form of a new text is shown, and has a text that is not saved.
const late = [
	{ what: 'create', at: '#new/orders', press: ['Create order'], request: 'POST /api/orders', want: 'Created order 6.' },
	{
		what: 'refused create', at: '#new/orders', press: ['Create order'], request: 'POST /api/orders', want: 'Create order: The note is odd.',
		answer: { status: 422, value: { detail: 'The note is odd.', errors: [{ pointer: '/note', detail: 'odd' }] } },
	},
	{ what: 'save', at: '#item/orders/5', enter: 'second', press: ['Save'], request: 'PATCH /api/orders/5', want: 'Saved Order 5.' },
	{
		what: 'conflict', at: '#item/orders/5', enter: 'second', press: ['Save'], request: 'PATCH /api/orders/5',
		answer: { status: 412, value: {} }, want: 'Order 5 was not saved, because it was changed in the meantime.',
	},
	{ what: 'delete', at: '#item/orders/5', press: ['Delete', 'Delete'], request: 'DELETE /api/orders/5', want: 'Deleted order 5.' },
	{ what: 'restore', at: '#item/orders/9', press: ['Restore'], request: 'POST /api/orders/9/restore', want: 'Restored order 9.' },
	{ what: 'command', at: '#command/orders%2Fbuild', press: ['Build'], request: 'POST /api/orders/build', want: 'Started orders/build.' },
]

const checks = {
	async 'a late response does not leave another form'(context) {
		for (const { what, at, enter, press: buttons, request, answer, want } of late) {
			const page = await open(context, at)
			await page.evaluate((name, answer) => { if (answer) window.api.answers[name] = answer }, request, answer)
			await hold(page, request)
			if (enter) await page.$eval('#view form.item input', (e, text) => { e.value = text }, enter)
			for (const text of buttons) await press(page, text)
			await isHeld(page, request)
			await go(page, '#new/texts')
			if (enter) {
				await page.waitForSelector('dialog[open]')
				await press(page, 'Discard')
			}
			await heading(page, 'New text')
			await page.type('#view form.item input', 'typed')
			await release(page)
			await noticed(page, want)
			const is = await page.evaluate(() => ({ hash: location.hash, dialogs: document.querySelectorAll('dialog[open]').length }))
			assert.deepEqual({ ...is, note: await note(page) }, { hash: '#new/texts', dialogs: 0, note: 'typed' }, what)
			assert.deepEqual(page.faults, [], what)
			await page.close()
		}
	},

	async 'a response that arrives while the next view loads does not leave it'(context) {
		const page = await open(context, '#new/orders')
		await hold(page, 'POST /api/orders')
		await hold(page, 'GET /api/orders/5')
		await press(page, 'Create order')
		await isHeld(page, 'POST /api/orders')
		await go(page, '#item/orders/5')
		await isHeld(page, 'GET /api/orders/5')
		await page.evaluate(() => { const { held } = window.api; held.splice(held.findIndex(r => r.name === 'POST /api/orders'), 1)[0].release() })
		await noticed(page, 'Created order 6.')
		await release(page)
		await heading(page, 'Order 5')
		await page.close()
	},

	async 'a form is locked while the next view loads'(context) {
		const page = await open(context, '#new/orders')
		await hold(page, 'GET /api/orders/5')
		await page.focus('#view form.item input')
		await go(page, '#item/orders/5')
		await isHeld(page, 'GET /api/orders/5')
		await page.keyboard.type('lost')
		assert.equal(await note(page), '')
		await release(page)
		await heading(page, 'Order 5')
		await page.type('#view form.item input', '!')
		assert.equal(await note(page), 'first!')
		await page.close()
	},
}

// runner returns a function that runs checks in pages of a browser context. ONLY selects them by name.
const runner = checks => async context => {
	for (const [name, check] of Object.entries(checks)) {
		if (!new RegExp(process.env.ONLY ?? '').test(name)) continue
		await check(context)
		console.log(`      ${name}`)
	}
}

export const checkLate = runner(checks)

export { go, heading, hold, isHeld, noticed, open, press, release, runner, until }
