// The page of the shop in Chromium while orders change.
//
//   node live.mjs SHOP [FOLDER]    SHOP is the program; FOLDER receives screenshots
//
// While a script writes orders, the shop is killed and started again on the same file: the page has to report each
// acknowledged change once. The control is a page that connects without a cursor after changes that were made while it was
// disconnected: it has to miss them. SEED decides when the shop is killed. A request to another host and a message of the
// console are failures.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownAddress, startShop } from '../shop/shop.mjs'
import { between } from '../shop/seed.mjs'
import { launch, pageIn, strangers } from './chromium.mjs'

const [program, pictures] = process.argv.slice(2)
const { context, folder, close } = await launch()
const ORDERS = 200, WRITERS = 4, MISSED = 10

// Shop is the program, which can be ended and started again at the same address.
class Shop {
	constructor(...flags) {
		this.flags = flags
		this.addr = ownAddress
	}
	async start() {
		this.process = await startShop(program, this.addr, this.flags, { env: { ...process.env, TMPDIR: folder } })
		this.url = this.process.url
		this.addr = this.process.addr // a restarted shop listens at the same port
		return this
	}
	async end(signal) {
		this.process.kill(signal)
		const status = await this.process.exited
		if (signal === 'SIGTERM') assert.equal(status, 0, `the shop ends with ${status}: ${this.process.output()}`)
	}
	// ask repeats a request until it has a response. With its key it has one effect, also if the shop is killed.
	async ask(method, path, body, headers = {}) {
		const key = method === 'GET' ? {} : { 'Idempotency-Key': `"${randomUUID()}"` }
		for (let tries = 0; tries < 4000; tries++) {
			try {
				const answer = await fetch(this.url + path, { method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(60_000),
					headers: { 'Content-Type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json', ...key, ...headers } })
				const text = await answer.text()
				if (answer.status !== 409 && answer.status < 500) return { status: answer.status, headers: answer.headers, value: text && JSON.parse(text) }
			} catch {} // the shop is not running
			await sleep(50)
		}
		assert.fail(`${method} ${path} has no response`)
	}
}

const shops = []
const open = async (...flags) => {
	const shop = new Shop(...flags)
	shops.push(shop)
	return shop.start()
}

const requested = [], messages = []

// visit opens the page in a context of its own, and collects the changes that it reports, in order. forget makes the page a client
// without cursors: it connects again without a cursor, and not before window.held is false.
async function visit(shop, { width = 1280, height = 1000, forget = false } = {}) {
	const page = await pageIn(await context(), { width, height })
	page.on('console', m => {
		// Responses that are errors, and requests without one, are messages of the console, too.
		if (!/Failed to load resource/.test(m.text())) messages.push(`${m.type()}: ${m.text()}`)
	})
	page.on('pageerror', e => messages.push(`error: ${e.message}`))
	page.on('request', r => requested.push(r.url()))
	if (forget) {
		await page.evaluateOnNewDocument(() => {
			const { fetch } = window
			window.fetch = async (path, options) => {
				if (options?.headers?.['Last-Event-ID']) options = { ...options, headers: { Accept: options.headers.Accept } }
				while (window.held) await new Promise(done => setTimeout(done, 20))
				return fetch(path, options)
			}
		})
	}
	await page.goto(shop.url + '/', { waitUntil: 'domcontentloaded' })
	await page.evaluate(() => {
		window.changes = []
		new MutationObserver(all => {
			for (const node of all.flatMap(m => [...m.addedNodes])) if (node.dataset.place) changes.push({ ...node.dataset })
		}).observe(document.getElementById('changes'), { childList: true })
	})
	return page
}

const until = (page, f, what, ...args) => page.waitForFunction(f, { polling: 50 }, ...args).catch(async e =>
	assert.fail(`${what}: ${e.message}; the page shows: ${await page.$eval('#state', s => s.textContent)} ${await page.$eval('#tally', s => s.textContent)}`))
const isLive = page => until(page, () => document.getElementById('state').className === 'live', 'the page is live')
const tally = (page, n) => until(page, n => +document.getElementById('tally').dataset.count >= n, `${n} changes`, n)
const changes = page => page.evaluate(() => window.changes)
const rows = page => page.$$eval('#orders tbody tr', all => all.map(r => `${r.cells[0].querySelector('a').textContent} ${r.cells[1].textContent}`))
const picture = async (page, name) => pictures && page.screenshot({ path: join(pictures, `live-${name}.png`), fullPage: true })

// press waits until the focus is at an element that matches, and presses a key.
async function press(page, selector, key = 'Enter') {
	await until(page, s => document.activeElement.matches(s), `the focus is at ${selector}`, selector)
	await page.keyboard.press(key)
}

// write creates orders while there are less than written.most changes. Of ten orders one is paid, one gets a quantity in the
// oldest contract, and one is deleted. It returns the acknowledged changes of each order.
async function write(shop, count, written) {
	let begun = 0
	const acknowledged = new Map()
	const add = (id, kind) => {
		acknowledged.set(`${id}`, [...(acknowledged.get(`${id}`) ?? []), kind])
		written.n++
	}
	await Promise.all(Array.from({ length: WRITERS }, async () => {
		for (let n; (n = begun++) < count;) {
			while (written.n >= written.most) await sleep(5)
			const created = await shop.ask('POST', '/orders', { customerId: 2 + n % 2, lines: [{ itemId: 1 + n, qty: 1 + n % 7 }] })
			assert.equal(created.status, 201, JSON.stringify(created.value))
			const id = created.value.id
			add(id, 'created')
			if (n % 10 === 1) {
				assert.equal((await shop.ask('PATCH', `/orders/${id}`, { status: 'paid' })).status, 200)
				add(id, 'updated')
			} else if (n % 10 === 2) {
				assert.equal((await shop.ask('PATCH', `/v1.0/orders/${id}`, { qty: 999 })).status, 200)
				add(id, 'updated')
			} else if (n % 10 === 3) {
				assert.equal((await shop.ask('DELETE', `/orders/${id}`)).status, 204)
				add(id, 'deleted')
			}
		}
	}))
	return acknowledged
}

// reached waits until n changes are acknowledged.
async function reached(written, n) {
	for (const end = Date.now() + 300_000; written.n < n; await sleep(5)) assert.ok(Date.now() < end, `${written.n} of ${n} changes are acknowledged`)
}

// byOrder returns the kinds of changes of each order, in the order of their reports.
function byOrder(all) {
	const kinds = new Map()
	for (const { order, kind } of all) kinds.set(order, [...(kinds.get(order) ?? []), kind])
	return kinds
}

const parts = {
	async 'every change is reported once, while the shop is killed'() {
		const shop = await open('-db', join(folder, 'shop.db'))
		const page = await visit(shop), forgetful = await visit(shop, { forget: true })
		await isLive(page)
		await isLive(forgetful)
		assert.equal((await rows(page)).length, 3)
		const written = { n: 0, most: 0 }
		const writing = write(shop, ORDERS, written)
		for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL']) {
			await forgetful.evaluate(() => window.held = true)
			written.most += 60
			await reached(written, written.most - between(5, 55)) // writes are in progress
			await shop.end(signal)
			await Promise.all([page, forgetful].map(p => until(p, () => document.getElementById('state').className === 'broken', 'the connection is lost')))
			await shop.start()
			await reached(written, written.most)
			// The forgetful page is disconnected and held while these changes are acknowledged.
			written.most = written.n + MISSED
			await reached(written, written.most)
			await tally(page, written.n) // a stream starts at the newest event that the shop has read from its log
			await forgetful.evaluate(() => window.held = false)
			await Promise.all([isLive(page), isLive(forgetful)])
		}
		written.most = Infinity
		const acknowledged = await writing
		await tally(page, written.n)
		// Changes are reported in order. A repeated one would be before this order.
		const last = (await shop.ask('POST', '/orders', { lines: [{ itemId: 7, qty: 1 }] })).value.id
		acknowledged.set(`${last}`, ['created'])
		written.n++
		await Promise.all([page, forgetful].map(p => until(p, id => changes.at(-1)?.order === id, 'the last change', `${last}`)))
		const all = await changes(page)
		assert.equal(all.length, written.n, 'changes that the page reports')
		assert.equal(new Set(all.map(c => c.place)).size, all.length, 'places are reported once')
		assert.deepEqual(new Map([...byOrder(all)].sort()), new Map([...acknowledged].sort()), 'the changes of each order')
		assert.equal(await page.$eval('#tally', e => +e.dataset.count), written.n)

		const list = (await shop.ask('GET', '/orders?sort=-id&limit=10&fields=id,status')).value.items
		assert.deepEqual(await rows(page), list.map(o => `Order ${o.id} ${o.status}`), 'the table has the items of the list')
		const total = (await shop.ask('GET', '/orders?limit=1', null, { Prefer: 'count=exact' })).value.total
		await until(page, n => document.querySelector('[data-total="/orders"]').textContent === `${n}`, `the count is ${total}`, total)
		await picture(page, 'wide')

		const missed = written.n - (await changes(forgetful)).length
		assert.ok(missed >= 3 * MISSED, `a page without cursors missed ${missed} changes, and ${3 * MISSED} were made while it was disconnected`)
		console.log(`${written.n} changes of ${acknowledged.size} orders, 2 kills and a restart: reported ${all.length}, missed 0, repeated 0; a page without cursors missed ${missed}`)
		await forgetful.close()

		const other = await page.browserContext().newPage() // a tab in front of it
		await until(page, () => document.hidden && /Paused/.test(document.getElementById('state').textContent), 'a hidden page is disconnected')
		for (const status of ['paid', 'shipped']) await shop.ask('PATCH', `/orders/${last}`, { status })
		await other.close()
		await page.bringToFront()
		await until(page, id => changes.at(-1).order === id && changes.at(-1).kind === 'updated' && document.querySelector('#orders .status').textContent === 'shipped', 'it receives the changes since then', `${last}`)
		assert.equal((await changes(page)).length, written.n + 2, 'changes while the page was hidden are reported once')
		await page.close()
		await shop.end('SIGTERM')
	},

	async 'orders are placed, paid and shipped with the keyboard'() {
		const shop = await open('-db', 'memory')
		const page = await visit(shop, { width: 390, height: 900 })
		await isLive(page)
		await page.focus('#place')
		await press(page, '#place')
		await tally(page, 1)
		await page.focus('#orders tbody tr:first-child button')
		await press(page, '[aria-label="Pay order 4"]')
		await press(page, '[aria-label="Ship order 4"]') // the focus stays in the row
		await until(page, () => document.activeElement.textContent === 'Order 4', 'the focus stays in the row without a button')
		assert.deepEqual((await changes(page)).map(c => `${c.kind} ${c.order}`), ['created 4', 'updated 4', 'updated 4'])
		assert.match(await page.$eval('#changes', e => e.textContent), /Order 4: paid → shipped.*Order 4: placed → paid/)
		await until(page, () => /PATCH[^]*200 OK/.test(document.getElementById('said').textContent), 'the command is shown with its response')
		await until(page, () => /Order 4 was updated/.test(document.getElementById('news').textContent), 'changes are announced')
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'the page is not wider than the screen')
		const nameless = []
		const walk = node => {
			if (['button', 'link', 'textbox', 'table', 'list'].includes(node.role) && !node.name && node.role !== 'table') nameless.push(node.role)
			node.children?.forEach(walk)
		}
		walk(await page.accessibility.snapshot({ interestingOnly: true }))
		assert.deepEqual(nameless, [], 'controls without a name')
		const cut = () => page.$$eval('.scroll', all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent))
		assert.deepEqual(await cut(), [], 'tables that do not fit')
		await picture(page, 'narrow')
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
		await page.setViewport({ width: 1280, height: 1000 })
		assert.deepEqual(await cut(), [], 'tables that do not fit a wide window')
		await picture(page, 'dark')

		// After a restart the log in memory is empty. The page reports that and lists again.
		await shop.end('SIGKILL')
		await shop.start()
		await until(page, () => /no longer has all changes/.test(document.getElementById('changes').textContent), 'the page reports that changes are missing')
		await isLive(page)
		assert.deepEqual(await rows(page), ['Order 3 placed', 'Order 2 paid', 'Order 1 shipped'])
		await page.close()
		await shop.end('SIGTERM')
	},

	async 'places are searched while a text is typed, and without the script'() {
		const shop = await open('-db', 'memory')
		const markup = '<img src=x onerror="document.title = 1"> Santa'
		assert.equal((await shop.ask('POST', '/places', { name: markup, country: 'XX' })).status, 201)
		const page = await visit(shop, { width: 390, height: 900 })
		const answer = text => until(page, text => document.querySelector('#search output').textContent.includes(text), `the search shows ${text}`, text)
		await page.type('#search [name=q]', 'sant* xx')
		await until(page, want => [...document.querySelectorAll('#found li')].map(e => e.textContent).join() === want, 'names are text', markup + 'XX')
		await answer('1 place')
		assert.deepEqual(await page.$$eval('#found mark', all => all.map(e => e.textContent)), ['Santa', 'XX'], 'matching words are marked')
		assert.equal(await page.$$eval('#found img', all => all.length), 0, 'names are not markup')
		await page.$eval('#search [name=q]', e => e.value = '')
		await page.type('#search [name=q]', '"new york" OR san -jose')
		await page.keyboard.press('Enter')
		await until(page, () => document.querySelectorAll('#found li').length === 10, 'the ten best matches')
		assert.equal(new URL(page.url()).pathname, '/', 'the page stays')
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'the page is not wider than the screen')
		await picture(page, 'search')
		await page.$eval('#search [name=q]', e => e.value = '')
		await page.type('#search [name=q]', '-jose')
		await answer('must have a word')
		await page.setJavaScriptEnabled(false)
		await page.goto(shop.url + '/')
		await page.type('#search [name=q]', '"new york"')
		await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
		assert.equal(page.url(), shop.url + '/places?q=%22new+york%22')
		assert.match(await page.$eval('body', e => e.textContent), /New York City/)
		await page.close()
		await shop.end('SIGTERM')
	},

	async 'found places are read page by page, and grouped by country'() {
		const shop = await open('-db', 'memory')
		const page = await visit(shop, { width: 390, height: 900 })
		const rows = n => until(page, n => document.querySelectorAll('#found li').length === n, `${n} rows`, n)
		await page.type('#search [name=q]', 'san*')
		const { total } = (await shop.ask('GET', '/places?q=san*&limit=1', null, { Prefer: 'count=exact' })).value
		await until(page, n => document.querySelector('#search output').textContent === `${n} places`, 'the result of the whole text', total)
		await rows(10)
		await until(page, () => !document.getElementById('more').hidden, 'there is another page')
		await page.$eval('#more', e => e.focus())
		await page.keyboard.press('Enter')
		await rows(20)
		const links = await page.$$eval('#found a', all => all.map(e => e.href))
		assert.equal(new Set(links).size, 20, 'no place is there twice')
		await page.$eval('#search [name=group]', e => e.focus())
		await page.keyboard.press('Space')
		await until(page, () => !document.querySelector('#found a') && document.querySelectorAll('#found li').length > 5, 'countries')
		const counts = await page.$$eval('#found small', all => all.map(e => parseInt(e.textContent.replaceAll(',', ''), 10)))
		assert.deepEqual(counts, counts.toSorted((a, b) => b - a), 'the most first')
		assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'the page is not wider than the screen')
		await picture(page, 'groups')
		await page.close()
		await shop.end('SIGTERM')
	},

	async 'QUERY with fetch and curl'() {
		const shop = await open()
		for (const qty of [1, 2, 3]) assert.equal((await shop.ask('POST', '/orders', { customerId: 2, lines: [{ itemId: 1, qty }] })).status, 201)
		const page = await visit(shop)
		const content = { filter: { not: { status: { eq: 'paid' } } }, sort: ['-id'], limit: 2, fields: ['id', 'status'] }
		const inPage = await page.evaluate(async body => {
			const answer = await fetch('/orders', { method: 'QUERY', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
			return { status: answer.status, location: answer.headers.get('Location'), body: await answer.text() }
		}, content)
		const inCurl = execFileSync('curl', ['-sS', '--fail-with-body', '-X', 'QUERY', '-H', 'Content-Type: application/json', '--data', JSON.stringify(content), shop.url + '/orders'],
			{ encoding: 'utf8' })
		const get = await fetch(shop.url + inPage.location)
		assert.equal(inPage.status, 200)
		assert.equal(inPage.body, await get.text(), 'Location is the equivalent GET')
		assert.equal(inCurl, inPage.body)
		assert.deepEqual(JSON.parse(inPage.body).items.map(o => o.status), ['placed', 'placed'])
		await page.close()
		await shop.end('SIGTERM')
	},
	async 'customers see their own orders, as long as they are logged in'() {
		const shop = await open('-db', 'memory', '-auth')
		const page = await visit(shop)
		await until(page, () => !document.getElementById('login').hidden, 'a login is required')
		await page.$eval('#login [name=email]', e => e.value = 'bob@example.com')
		await page.type('#login [name=password]', 'bob')
		await page.keyboard.press('Enter')
		await isLive(page)
		assert.deepEqual(await rows(page), ['Order 3 placed', 'Order 1 shipped'])
		const tokens = {}
		for (const name of ['ann', 'bob']) tokens[name] = { Authorization: `Bearer ${(await login(shop, name)).token}` }
		await shop.ask('PATCH', '/orders/2', { status: 'shipped' }, tokens.ann)
		await shop.ask('PATCH', '/orders/3', { customerId: 3 }, tokens.ann)
		const markup = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>'
		await shop.ask('PATCH', '/orders/1', { note: markup }, tokens.ann)
		await tally(page, 2)
		for (const where of ['#orders', '#changes']) {
			assert.ok((await page.$eval(where, e => e.textContent)).includes(markup), `${where} shows the text of users as text`)
			assert.equal(await page.$$eval(`${where} :is(img, script)`, all => all.length), 0, `${where} has markup of users`)
		}
		assert.deepEqual((await changes(page)).map(c => `${c.kind} ${c.order}`), ['deleted 3', 'updated 1'], 'an order that the customer may not see is deleted')
		assert.deepEqual(await rows(page), ['Order 1 shipped'])
		await picture(page, 'customer')
		assert.equal((await shop.ask('POST', '/auth/logout', {}, tokens.bob)).status, 200) // all of bob's sessions
		await shop.ask('PATCH', '/orders/1', { note: 'Gone again.' }, tokens.ann)
		const isLeft = what => until(page, () => {
			const [state, rows, changes, tally, total, said, who, login] = ['#state', '#orders tbody', '#changes', '#tally', '[data-total="/orders"]', '#said', '#who', '#login'].map(q => document.querySelector(q))
			return /Log in/.test(state.textContent) && !rows.querySelector('a') && !changes.children.length && !tally.textContent && tally.dataset.count === '0' &&
				!total.textContent && /^curl -N/.test(said.textContent) && who.hidden && !login.hidden
		}, what)
		await isLeft('a session that was ended receives nothing, and the page is empty')
		assert.equal((await changes(page)).length, 2)

		await page.$eval('#login [name=email]', e => e.value = 'cat@example.com')
		await page.type('#login [name=password]', 'cat')
		await page.keyboard.press('Enter')
		await isLive(page)
		assert.deepEqual(await rows(page), ['Order 3 placed', 'Order 2 shipped'], 'the next customer sees other orders')
		await picture(page, 'session')
		tokens.cat = { Authorization: `Bearer ${(await login(shop, 'cat')).token}` }
		await page.focus('#logout')
		await page.keyboard.press('Enter')
		await isLeft('the page is empty after the customer has logged out')
		await picture(page, 'left')
		for (const end = Date.now() + 300_000; (await shop.ask('GET', '/orders', null, tokens.cat)).status !== 401; await sleep(50)) assert.ok(Date.now() < end, 'the session is ended in the shop')
		await page.close()
		await shop.end('SIGTERM')
	},
}

// login sends no key, because a response with a token is not stored.
async function login(shop, name) {
	const answer = await fetch(shop.url + '/auth/login', { method: 'POST', headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ email: `${name}@example.com`, password: name }) })
	return answer.json()
}

try {
	for (const [name, part] of Object.entries(parts)) {
		const began = Date.now()
		await part()
		console.log(`ok    ${((Date.now() - began) / 1000).toFixed(1).padStart(5)}s  live: ${name}`)
	}
	assert.deepEqual(messages, [], 'the console')
	assert.deepEqual(strangers(requested, ...shops.map(s => s.url)), [], 'the page requests other hosts')
} finally {
	for (const shop of shops) shop.process?.kill('SIGKILL')
	await close()
}
