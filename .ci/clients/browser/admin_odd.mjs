// Checks of the admin page with odd names and values, refused requests and pages of lists. The API is in the page, as in
// admin_late.mjs. Timers that matter are run by the check.
import assert from 'node:assert/strict'
import { go, heading, hold, isHeld, noticed, open, press, release, runner, until } from './admin_late.mjs'

// prepare replaces the API before the page starts. api.urls has the URLs of requests of lists.
function prepare() {
	const { api } = window, { fetch } = window
	const operations = ['list', 'get', 'create', 'patch', 'delete']
	const fields = [
		{ name: 'id', type: 'integer', readOnly: true }, { name: 'constructor', type: 'string', required: true },
		{ name: 'at', type: 'string', format: 'date-time', required: true }, { name: 'text', type: 'string', required: true },
		{ name: 'price', type: 'string', format: 'decimal' }, { name: 'secret', type: 'string', writeOnly: true },
		{ name: 'map', type: 'map' },
	]
	const description = {
		keyed: false, files: [], commands: [], imports: [{ name: 'orders/import', target: 'orders' }],
		resources: [{ name: 'orders', id: 'id', fields, operations, filter: { text: ['eq'] }, sort: ['id'] }],
	}
	const item = JSON.parse('{"id":5,"at":"2026-11-29T05:00:00Z","text":"a\\r\\nb","price":"1234567.25","map":{"toString":1}}')
	const headers = { ETag: '"1"' }
	const refused = {
		status: 400, value: { detail: 'The query is not valid.', errors: [{ parameter: 'text', detail: 'text is odd' }] },
	}
	Object.assign(api, { urls: [], refused })
	api.answers = {
		'GET description.json': { value: description }, 'GET /api/orders/5': { value: item, headers },
		'PATCH /api/orders/5': { value: item, headers }, 'DELETE /api/orders/5': refused,
	}
	window.fetch = (url, options) => {
		if (url.split('?')[0] === '/api/orders') {
			api.urls.push(url)
			const query = new URLSearchParams(url.split('?')[1]), n = Number(query.get('after') ?? 0)
			api.answers['GET /api/orders'] = query.has('text') ? refused
				: { value: { items: [{ ...item, id: n }], ...n < 3 ? { next: String(n + 1) } : {} } }
		}
		return fetch(url, options)
	}
}

const start = (context, at) => open(context, at, prepare)
const row = (page, id) => until(page, id => document.querySelector('.items tbody th')?.textContent === id, `row ${id}`, id)
const enter = (page, label, text) => page.evaluate((label, text) => {
	const found = [...document.querySelectorAll('#view label')].find(l => l.textContent.startsWith(label))
	document.getElementById(found.htmlFor).value = text
}, label, text)
const writes = page => page.evaluate(() => window.api.requests.filter(r => !r.name.startsWith('GET')).map(r => r.body ?? r.name))

// saved has what is entered in the form of an item, and the patch that is sent.
const saved = [
	{ what: 'member constructor', label: 'Constructor', text: 'x', want: '{"constructor":"x"}' },
	{ what: 'key __proto__', label: 'Map', text: '{"toString":1,"__proto__":{"b":2}}', want: '{"map":{"__proto__":{"b":2}}}' },
	{ what: 'key constructor', label: 'Map', text: '{"toString":1,"constructor":"c"}', want: '{"map":{"constructor":"c"}}' },
	{ what: 'removed key toString', label: 'Map', text: '{}', want: '{"map":{"toString":null}}' },
	{ what: 'CRLF', label: 'Text', text: 'a\nc', want: '{"text":"a\\r\\nc"}' },
]

const checks = {
	async 'odd members, keys and line ends are saved'(context) {
		for (const { what, label, text, want } of saved) {
			const page = await start(context, '#item/orders/5')
			await heading(page, 'Order 5')
			await enter(page, label, text)
			await press(page, 'Save')
			await noticed(page, 'Saved.')
			assert.deepEqual(await writes(page), [want], what)
			assert.deepEqual(page.faults, [], what)
			await page.close()
		}
	},

	async 'a cleared date is required'(context) {
		const page = await start(context, '#item/orders/5')
		await heading(page, 'Order 5')
		await enter(page, 'At', '')
		await press(page, 'Save')
		await noticed(page, 'At is required.')
		assert.deepEqual(await writes(page), [])
		await page.close()
	},

	async 'a stray % in the fragment shows a view'(context) {
		const page = await start(context, '#item/orders/%')
		await until(page, () => document.getElementById('notice').textContent !== '', 'a message')
		assert.deepEqual(page.faults, [])
		await page.close()
	},

	async 'a secret is not shown in a conflict'(context) {
		const page = await start(context, '#item/orders/5')
		await heading(page, 'Order 5')
		await page.evaluate(() => { window.api.answers['PATCH /api/orders/5'] = { status: 412, value: {} } })
		await enter(page, 'Secret', 'hunter2')
		await press(page, 'Save')
		await page.waitForSelector('dialog.conflict')
		const text = await page.$eval('dialog.conflict', e => e.textContent)
		assert.ok(text.includes('Secret') && !text.includes('hunter2'), text)
		await page.close()
	},

	async 'times name their zone and decimals are not broken'(context) {
		const page = await start(context, '#list/orders')
		await row(page, '0')
		assert.match(await page.$eval('.items time', e => e.textContent), /(UTC|GMT\S*|[A-Z]{3,4})$/)
		const space = await page.evaluate(() => {
			const cell = [...document.querySelectorAll('.items td')].find(e => e.textContent === '1234567.25')
			return getComputedStyle(cell).whiteSpace
		})
		assert.equal(space, 'nowrap')
		await page.close()
	},

	async 'a wrong filter keeps its form and shows the errors'(context) {
		const page = await start(context, '#list/orders?text=odd')
		const shown = async () => {
			await noticed(page, 'text is odd')
			assert.equal(await page.$eval('#view .operand input', e => e.value), 'odd')
		}
		await shown()
		await go(page, '#list/orders')
		await row(page, '0')
		await go(page, '#list/orders?text=odd')
		await shown()
		await page.close()
	},

	async 'Apply keeps the focus'(context) {
		const page = await start(context, '#list/orders')
		await row(page, '0')
		await page.evaluate(() => {
			const [by, direction] = document.querySelectorAll('#view .query select')
			by.value = 'id'
			direction.value = '-'
			;[...document.querySelectorAll('#view .query button')].find(b => b.textContent === 'Apply').focus()
		})
		await page.keyboard.press('Enter')
		await until(page, () => window.api.urls.some(url => url.includes('sort=-id')), 'the list is sorted')
		assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Apply')
		await page.close()
	},

	async 'a refused delete shows the errors'(context) {
		const page = await start(context, '#item/orders/5')
		await heading(page, 'Order 5')
		await press(page, 'Delete')
		await page.waitForSelector('dialog[open]')
		await press(page, 'Delete')
		await noticed(page, 'text is odd')
		await page.close()
	},

	async 'a refused import shows the errors'(context) {
		const page = await start(context, '#import/orders%2Fimport')
		await heading(page, 'Import into orders')
		await page.evaluate(() => {
			window.XMLHttpRequest = class {
				upload = {}
				status = 400
				responseText = JSON.stringify(window.api.refused.value)
				open() {}
				setRequestHeader() {}
				getResponseHeader(name) { return name === 'Content-Type' ? 'application/problem+json' : null }
				send() { this.onload() }
			}
			const files = new DataTransfer()
			files.items.add(new File(['{}'], 'orders.jsonl'))
			document.querySelector('#view input[type=file]').files = files.files
		})
		await press(page, 'Import')
		await noticed(page, 'text is odd')
		await page.close()
	},

	async 'the page of a list is kept by Back and reload'(context) {
		const page = await start(context, '#list/orders?sort=id')
		await row(page, '0')
		for (const id of ['1', '2']) {
			await press(page, 'Next page')
			await row(page, id)
			await until(page, id => location.hash.includes(`after=${id}`), 'the URL has the page', id)
		}
		await page.goBack()
		await row(page, '1')
		await page.goForward()
		await row(page, '2')
		await page.reload()
		await row(page, '2')
		assert.match(await page.$eval('.state', e => e.textContent), /Page 3/)
		assert.deepEqual(await page.evaluate(() => window.api.urls), ['/api/orders?sort=id&after=2'])
		await press(page, 'First page')
		await row(page, '0')
		await until(page, () => location.hash === '#list/orders?sort=id', 'the URL has the first page')
		await page.close()
	},

	async 'a view that takes long shows that it loads'(context) {
		const page = await start(context, '#list/orders')
		await row(page, '0')
		await page.evaluate(() => {
			const { setTimeout } = window
			window.setTimeout = (f, ms) => ms === 300 ? (window.slow = f, 0) : setTimeout(f, ms)
		})
		await hold(page, 'GET /api/orders/5')
		await go(page, '#item/orders/5')
		await isHeld(page, 'GET /api/orders/5')
		await page.evaluate(() => window.slow())
		await noticed(page, 'Loading…')
		await release(page)
		await heading(page, 'Order 5')
		await until(page, () => document.getElementById('notice').textContent === '', 'the message ends')
		await page.close()
	},
}

export const checkOdd = runner(checks)
