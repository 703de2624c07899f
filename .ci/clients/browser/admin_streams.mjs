// Checks of the admin page about connections: streams of events, requests without a response, and events of own
// writes. The API is in the page, as in admin_late.mjs. The checks run the timers of 10 s.
import assert from 'node:assert/strict'
import { go, heading, hold, isHeld, noticed, open, press, release, runner, until } from './admin_late.mjs'

// fakes runs in the page before its scripts. It has the timers of 10 s, the visibility of the page, and faults of the
// API: lost requests, streams that are refused, and positions of the feed that have expired.
function fakes() {
	const { setTimeout, clearTimeout, fetch } = window, { api } = window
	Object.assign(api, { timers: new Map(), hidden: false, lost: [], refused: [], expired: [] })
	let last = 0
	window.setTimeout = (f, ms, ...more) => {
		if (ms !== 10_000) return setTimeout(f, ms, ...more)
		api.timers.set(--last, f)
		return last
	}
	window.clearTimeout = id => { if (!api.timers.delete(id)) clearTimeout(id) }
	Object.defineProperty(document, 'hidden', { get: () => api.hidden })
	XMLHttpRequest.prototype.send = function () { queueMicrotask(() => this.onerror()) }
	window.fetch = (url, options) => {
		const lost = api.lost.includes(`${options.method ?? 'GET'} ${url}`)
		if (lost) return Promise.reject(new TypeError('Failed to fetch'))
		if (options.headers.Accept !== 'text/event-stream') return fetch(url, options)
		const expired = api.expired.includes(options.headers['Last-Event-ID'])
		const status = api.refused.includes(url) ? 406 : expired ? 410 : 0
		return status ? Promise.resolve(new Response('{}', { status })) : fetch(url, options)
	}
	api.reports = []
	window.addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
		api.reports.push(document.getElementById('status').textContent)
	}).observe(document.getElementById('status'), { childList: true }))
}

// describe replaces the description: texts have no events, orders have an import, and the texts of carts can be
// followed.
function describe() {
	const { answers } = window.api
	const fields = [{ name: 'id', type: 'integer', readOnly: true }, { name: 'note', type: 'string' }]
	const operations = ['list', 'get', 'create', 'patch', 'delete', 'restore']
	answers['GET description.json'] = { value: {
		keyed: false, files: [], imports: [{ name: 'orders/import', target: 'orders' }],
		commands: [{ name: 'orders/build', input: [], job: 'orders' }],
		resources: [
			{ name: 'orders', id: 'id', fields, operations: [...operations, 'watch'], maxPageSize: 50 },
			{ name: 'texts', id: 'id', fields, operations, maxPageSize: 50 },
			{
				name: 'carts', id: 'id', fields, operations: ['get'],
				relations: [{ name: 'texts', target: 'texts', many: true, changes: 'links?cart=' }],
			},
		],
	} }
	answers['GET /api/carts/5'] = { value: { id: 5, texts: [] }, headers: { 'Event-Cursor': 'c1' } }
	answers['GET /api/texts'] = { value: { items: [{ id: 1, note: 'old' }] } }
}

const start = (context, fragment) => open(context, fragment, `(${fakes})();(${describe})()`)
const streams = page => page.evaluate(() => {
	return window.api.streams.map(({ path, from, ended }) => ({ path, from, ended }))
})
const event = (type, id, item) => `event: ${type}\nid: ${id}\ndata: ${JSON.stringify(item)}\n\n`
const send = (page, i, text) => page.evaluate((i, text) => window.api.streams[i].send(text), i, text)
const streaming = (page, n) => until(page, n => window.api.streams.length === n, `there are ${n} streams`, n)
const hide = (page, hidden) => page.evaluate(hidden => {
	window.api.hidden = hidden
	document.dispatchEvent(new Event('visibilitychange'))
}, hidden)
const set = (page, members) => page.evaluate(members => { Object.assign(window.api, members) }, members)
const answer = (page, name, value) => page.evaluate((name, value) => {
	window.api.answers[name] = value
}, name, value)
const enter = (page, text) => page.$eval('#view form.item input', (e, text) => { e.value = text }, text)
const banner = (page, text) => until(page, text => {
	return document.querySelector('.fresh:not([hidden])')?.textContent.startsWith(text)
}, `the banner is ${text}`, text)
const elsewhere = page => page.evaluate(() => window.api.reports.filter(r => r.includes('elsewhere')))
const shows = (page, where, text) => until(page, (where, text) => {
	return document.querySelector(where)?.textContent.includes(text)
}, `${where} has ${text}`, where, text)
const inForm = (page, text) => until(page, text => {
	return document.querySelector('#view form.item input').value === text
}, `the form has ${text}`, text)

// unknown has writes with a lost response, of an API without idempotency keys.
const unknown = [
	{ what: 'create', at: '#new/orders', press: ['Create order'], lost: 'POST /api/orders' },
	{ what: 'save', at: '#item/orders/5', enter: 'second', press: ['Save'], lost: 'PATCH /api/orders/5' },
	{ what: 'delete', at: '#item/orders/5', press: ['Delete', 'Delete'], lost: 'DELETE /api/orders/5' },
	{ what: 'restore', at: '#item/orders/9', press: ['Restore'], lost: 'POST /api/orders/9/restore' },
	{ what: 'command', at: '#command/orders%2Fbuild', press: ['Build'], lost: 'POST /api/orders/build' },
	{ what: 'import', at: '#import/orders%2Fimport', file: 'a.jsonl', press: ['Import'] },
]

const checks = {
	async 'a hidden page has no stream and resumes from its cursor'(context) {
		const page = await start(context, '#list/orders')
		await streaming(page, 1)
		await send(page, 0, event('updated', 'c2', { id: 5, note: 'second' }))
		await shows(page, '.items', 'second')
		await hide(page, true)
		await until(page, () => window.api.streams[0].ended, 'the stream ends')
		await go(page, '#item/orders/5')
		await heading(page, 'Order 5')
		await go(page, '#list/orders')
		await heading(page, 'Orders')
		assert.equal((await streams(page)).length, 1, 'a hidden page opens no stream')
		await hide(page, false)
		await streaming(page, 2)
		await send(page, 1, event('updated', 'c3', { id: 5, note: 'third' }))
		await shows(page, '.items', 'third')
		await hide(page, true)
		await hide(page, false)
		await streaming(page, 3)
		assert.deepEqual(await streams(page), [
			{ path: '/api/orders', from: 'c1', ended: true }, { path: '/api/orders', from: 'c1', ended: true },
			{ path: '/api/orders', from: 'c3', ended: false },
		])
		assert.deepEqual(page.faults, [])
		await page.close()
	},

	async 'a write that waits for 10 s shows a notice'(context) {
		const page = await start(context, '#item/orders/5')
		await hold(page, 'PATCH /api/orders/5')
		await enter(page, 'second')
		await press(page, 'Save')
		await isHeld(page, 'PATCH /api/orders/5')
		await page.evaluate(() => { for (const run of window.api.timers.values()) run() })
		await noticed(page, 'There is no response yet to the request to change this order.')
		await release(page)
		await noticed(page, 'Saved.')
		assert.equal(await page.evaluate(() => window.api.timers.size), 0, 'the timer is cleared')
		await page.close()
	},

	async 'a lost response of a write without a key asks to look at the list'(context) {
		for (const { what, at, enter: text, file, press: buttons, lost } of unknown) {
			const page = await start(context, at)
			await set(page, { lost: [lost] })
			if (text) await enter(page, text)
			if (file) {
				await page.$eval('input[type=file]', (e, name) => {
					const data = new DataTransfer()
					data.items.add(new File(['{}\n'], name))
					e.files = data.files
				}, file)
			}
			for (const text of buttons) await press(page, text)
			await noticed(page, 'Whether it was done is not known; look at the list first.')
			assert.ok(!/try again/i.test(await page.$eval('#notice', e => e.textContent)), what)
			assert.deepEqual(page.faults, [], what)
			await page.close()
		}
	},

	async 'an own save is not announced as changed elsewhere'(context) {
		const page = await start(context, '#item/orders/5')
		await streaming(page, 1)
		await hold(page, 'PATCH /api/orders/5')
		await enter(page, 'second')
		await press(page, 'Save')
		await isHeld(page, 'PATCH /api/orders/5')
		await send(page, 0, event('updated', 'c2', { id: 5, note: 'second' }))
		await release(page)
		await noticed(page, 'Saved.')
		assert.ok(await page.$eval('.fresh', e => e.hidden))
		await send(page, 0, event('updated', 'c3', { id: 5, note: 'third' }))
		await banner(page, 'This order was changed elsewhere.')
		assert.equal((await elsewhere(page)).length, 1)
		await send(page, 0, event('updated', 'c4', { id: 5, note: 'second' }))
		await until(page, () => document.querySelector('.fresh').hidden, 'the banner ends with the same values')
		await page.close()
	},

	async 'an own delete is not announced'(context) {
		const page = await start(context, '#item/orders/5')
		await streaming(page, 1)
		await hold(page, 'DELETE /api/orders/5')
		await press(page, 'Delete')
		await press(page, 'Delete')
		await isHeld(page, 'DELETE /api/orders/5')
		await send(page, 0, event('deleted', 'c2', { id: 5, note: 'first' }))
		await release(page)
		await heading(page, 'Orders')
		await noticed(page, 'Deleted order 5.')
		assert.deepEqual(await elsewhere(page), [])
		await page.close()
	},

	async 'an item with an expired position is read and followed again'(context) {
		const page = await start(context, '#item/orders/5')
		await streaming(page, 1)
		await set(page, { expired: ['c1'] })
		await answer(page, 'GET /api/orders/5', {
			value: { id: 5, note: 'second' }, headers: { ETag: '"2"', 'Event-Cursor': 'c9' },
		})
		await hide(page, true)
		await hide(page, false)
		await banner(page, 'This order was changed elsewhere.')
		await streaming(page, 2)
		assert.equal((await streams(page))[1].from, 'c9')
		await press(page, 'Show the current values')
		await inForm(page, 'second')
		await page.close()
	},

	async 'related items with an expired position are read and followed again'(context) {
		const page = await start(context, '#item/carts/5')
		await streaming(page, 1)
		await set(page, { expired: ['c1'] })
		await answer(page, 'GET /api/carts/5', {
			value: { id: 5, texts: [{ id: 1, note: 'added' }] }, headers: { 'Event-Cursor': 'c9' },
		})
		await hide(page, true)
		await hide(page, false)
		await shows(page, '.related', '1')
		await streaming(page, 2)
		assert.deepEqual(await streams(page), [
			{ path: '/api/links?cart=5', from: 'c1', ended: true }, { path: '/api/links?cart=5', from: 'c9', ended: false },
		])
		assert.deepEqual(await elsewhere(page), ['The texts of this cart were changed elsewhere.'])
		await page.close()
	},

	async 'a list without events can be read again'(context) {
		for (const name of ['texts', 'orders']) {
			const page = await start(context, '#list/new')
			await set(page, { refused: ['/api/orders'] })
			await go(page, `#list/${name}`)
			await shows(page, '.state button', 'Read again')
			await answer(page, `GET /api/${name}`, { value: { items: [{ id: 1, note: 'renewed' }] } })
			await page.focus('.state button')
			await page.keyboard.press('Enter')
			await shows(page, '.items', 'renewed')
			await until(page, () => document.activeElement.textContent === 'Read again', 'the focus stays')
			await page.close()
		}
	},

	async 'a refused delete offers to show the current values'(context) {
		const page = await start(context, '#item/orders/5')
		await answer(page, 'DELETE /api/orders/5', { status: 412, value: {} })
		await answer(page, 'GET /api/orders/5', { value: { id: 5, note: 'second' }, headers: { ETag: '"2"' } })
		await press(page, 'Delete')
		await press(page, 'Delete')
		await noticed(page, 'was not deleted. Show the current values first.')
		await press(page, 'Show the current values')
		await inForm(page, 'second')
		await until(page, () => document.getElementById('notice').textContent === '', 'the notice ends')
		await answer(page, 'DELETE /api/orders/5', { status: 204 })
		await press(page, 'Delete')
		await press(page, 'Delete')
		await noticed(page, 'Deleted order 5.')
		const tags = await page.evaluate(() => {
			return window.api.requests.filter(r => r.name.startsWith('DELETE')).map(r => r.headers['If-Match'])
		})
		assert.deepEqual(tags, ['"1"', '"2"'])
		await page.close()
	},
}

export const checkStreams = runner(checks)
