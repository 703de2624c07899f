// The admin page of the shop in Chromium.
//
//	node admin.mjs SHOP [FOLDER]    SHOP is the program; FOLDER receives screenshots
//
// - The page is used with the keyboard alone: an order is created, edited, deleted and restored, a conflict is resolved,
//   items are imported and a file is uploaded, both with progress.
// - Values that the user has not changed are kept, a write whose response is lost is done once, and a form with changes is
//   left after a question only, also by signing out.
// - Links of a relation are added and removed with the keyboard, also in another window, and an error is shown beside them.
// - A command is called: its input is refused, it starts a job, and its output is shown.
// - Changes made in another window and by another client are marked in a list, also those made while the shop is down.
// - axe finds no violation in each kind of view, at two widths, in light and dark colors, and no view is too wide.
// - The console is empty, and nothing but the shop is requested.
//
// ASSORTMENT is the program of the folder assortment, for links. ROWS is the number of imported places, 3000 by default, and BYTES the size of the uploaded file, 32 MiB by default.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ownAddress, start as startProgram, startShop } from '../shop/shop.mjs'
import { checkLate } from './admin_late.mjs'
import { checkOdd } from './admin_odd.mjs'
import { checkStreams } from './admin_streams.mjs'
import { checkValues } from './admin_values.mjs'
import { launch, pageIn, strangers } from './chromium.mjs'
import { tunnel } from './tunnel.mjs'

const [program, pictures] = process.argv.slice(2)
const ROWS = Number(process.env.ROWS ?? 3000), BYTES = Number(process.env.BYTES ?? 32 << 20)
const axe = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8')
const { context, folder, close } = await launch()
const shops = [], requested = [], messages = []

// start starts a shop; a database of the same name is the same shop.
async function start(...flags) {
	const shop = await startShop(program, shops.at(-1)?.flags.join() === flags.join() ? shops.at(-1).addr : ownAddress, flags,
		{ env: { ...process.env, TMPDIR: folder } })
	shop.flags = flags
	shops.push(shop)
	return shop
}

// startAssortment starts the server with links.
async function startAssortment() {
	const assortment = await startProgram(process.env.ASSORTMENT, ['-addr', ownAddress])
	assortment.flags = ['assortment']
	shops.push(assortment)
	return assortment
}

// ask sends a request beside the page.
async function ask(shop, method, path, value, headers = {}) {
	const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
	const answer = await fetch(shop.url + path, { method, body: value && JSON.stringify(value), headers: { 'Content-Type': type, ...headers } })
	const text = await answer.text()
	return { status: answer.status, value: text && JSON.parse(text), headers: answer.headers }
}

// open returns a page of the admin page in a new window. sent has the requests that write.
async function open(shop, fragment = '', { width = 1280, height = 900 } = {}) {
	const page = await pageIn(await context(), { width, height, timeout: Number(process.env.PATIENCE ?? 240_000) })
	page.sent = []
	page.on('console', m => { if (!/Failed to load resource/.test(m.text())) messages.push(`${m.type()}: ${m.text()}`) })
	page.on('pageerror', e => messages.push(`error: ${e.message}`))
	page.on('request', r => {
		requested.push(r.url())
		if (!['GET', 'HEAD'].includes(r.method())) page.sent.push({ method: r.method(), url: r.url(), headers: r.headers(), body: r.postData() })
	})
	await page.goto(`${shop.url}/admin/${fragment}`, { waitUntil: 'domcontentloaded' })
	await page.waitForSelector('#view h1')
	return page
}

const address = page => page.evaluate(() => location.href)
const text = (page, selector) => page.$eval(selector, e => e.textContent)
const until = (page, f, what, ...args) => page.waitForFunction(f, { polling: 50 }, ...args).catch(async e =>
	assert.fail(`${what}: ${e.message}; notice: ${await text(page, '#notice')}; status: ${await text(page, '#status')}`))
const heading = (page, h) => until(page, h => document.querySelector('#view h1')?.textContent === h, `the heading is ${h}`, h)
const noticed = (page, n) => until(page, n => document.getElementById('notice').textContent.includes(n), `the notice has ${n}`, n)
const live = page => until(page, () => document.querySelector('.live')?.classList.contains('live'), 'changes are followed')
const keys = async (page, ...all) => { for (const key of all) await page.keyboard.press(key) }

// nameOf is the script of a function in the page: the name of an element that can have the focus.
const nameOf = `e => e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent`

// focused returns the name of the focused element.
const focused = page => page.evaluate(`(${nameOf})(document.activeElement)`)

// is is the script of a condition: an expression is a name, which is a text or a regular expression.
const is = (expression, name) => name instanceof RegExp ? `${name}.test(${expression})` : `${expression} === ${JSON.stringify(name)}`

// at waits until an element with the name has the focus.
const at = (page, name, what = 'focus') => until(page, is(`(${nameOf})(document.activeElement)`, name), `${what}: ${name} has the focus`)

// closed waits until no dialog but except is open, and its closing is complete.
const closed = (page, what, except = 'none') => until(page, except => ![...document.querySelectorAll('dialog')].some(d => !d.matches(except) && (d.open || d.id === '')), what, except)

// tabTo presses Tab until an element with the name has the focus. It waits until there is one. Each element on the way must
// show its focus.
async function tabTo(page, name, back = false) {
	await until(page, `[...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex]')].some(e =>
		e.tabIndex >= 0 && !e.matches(':disabled') && e.checkVisibility() && (${is(`(${nameOf})(e)`, name)}))`, `there is a control with the name ${name}`)
	const seen = []
	for (let i = 0; i < 120; i++) {
		if (back) await page.keyboard.down('Shift')
		await page.keyboard.press('Tab')
		if (back) await page.keyboard.up('Shift')
		const now = await focused(page)
		if (now === name || name instanceof RegExp && name.test(now)) {
			const style = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
			assert.notEqual(style, 'none', `the focus of ${now} is not visible`)
			return
		}
		seen.push(now.slice(0, 30))
	}
	assert.fail(`Tab does not reach ${name}: ${[...new Set(seen)].join(' | ')}`)
}

// option selects an option of the focused select element with the arrow keys. Typing its text would depend on the time between
// keys.
async function option(page, text) {
	await keys(page, 'Home')
	const selected = () => page.evaluate(() => { const { options, selectedIndex } = document.activeElement; return [options[selectedIndex].text, selectedIndex < options.length - 1] })
	for (let [now, more] = await selected(); now !== text; [now, more] = await selected()) {
		assert.ok(more, `there is no option ${text}`)
		await keys(page, 'ArrowDown')
	}
}

// enter replaces the text of a control that Tab reaches.
async function enter(page, name, value) {
	await tabTo(page, name)
	await page.keyboard.down('Control')
	await page.keyboard.press('a')
	await page.keyboard.up('Control')
	await page.keyboard.type(value)
}

// choose opens the file chooser of the focused input with the keyboard. The interception of choosers is complete before
// the key is pressed; waitForFileChooser does not wait for that.
async function choose(page, file) {
	const client = await page.createCDPSession()
	await client.send('Page.enable')
	await client.send('Page.setInterceptFileChooserDialog', { enabled: true })
	const opened = new Promise(done => client.once('Page.fileChooserOpened', done))
	await keys(page, 'Space')
	const { backendNodeId } = await opened
	await client.send('DOM.setFileInputFiles', { files: [file], backendNodeId })
	await client.detach()
	await until(page, name => document.querySelector('input[type=file]').files[0]?.name === name, 'the file is chosen', basename(file))
}

// violations returns those that axe finds on the page as it is.
async function violations(page) {
	await page.evaluate(axe)
	return page.evaluate(async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
		.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(', ')}`))
}

// look checks what the page shows at two widths in light and dark colors.
async function look(page, name) {
	for (const width of [1280, 400]) {
		for (const value of ['light', 'dark']) {
			await page.setViewport({ width, height: 900 })
			await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
			const at = `${name}, ${width}, ${value}`
			assert.deepEqual(await violations(page), [], `${at}: axe`)
			const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
			assert.ok(wide <= 0, `${at}: the page is ${wide} pixels too wide`)
			if (pictures) await page.screenshot({ path: join(pictures, `admin-${name}-${width}-${value}.png`) })
		}
	}
	await page.setViewport({ width: 1280, height: 900 })
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
}

// watchProgress records each step and value of a bar from now on.
const watchProgress = page => page.evaluate(() => {
	window.progress = { values: new Set(), steps: new Set() }
	new MutationObserver(() => {
		const bar = document.querySelector('progress')
		if (!bar) return
		if (bar.value) window.progress.values.add(bar.value)
		window.progress.steps.add(document.querySelector('.progress output').textContent.split(':')[0])
	}).observe(document.querySelector('main'), { subtree: true, childList: true, attributeFilter: ['value'] })
})

// progressOf waits until the bar has gone. It returns how often the bar has moved, and the most memory of JavaScript. Whether a
// browser reports that it is sending depends on the time, unless sends is set because the file is held.
async function progressOf(page, what, sends) {
	let heap = 0
	for (let more = true; more; await new Promise(done => setTimeout(done, 100))) {
		heap = Math.max(heap, (await page.metrics()).JSHeapUsedSize)
		more = await page.evaluate(() => !!document.querySelector('progress'))
	}
	const { moves, steps } = await page.evaluate(() => ({ moves: window.progress.values.size, steps: [...window.progress.steps].filter(Boolean) }))
	assert.ok(moves > 0, `${what}: the progress has not moved`)
	assert.deepEqual(steps.filter(s => sends || s !== 'Sending'), sends ? ['Reading', 'Sending', 'Storing'] : ['Reading', 'Storing'], `${what}: steps`)
	return { moves, heap }
}

const parts = {
	async 'what must be found is found'() {
		const window = await context(), page = await window.newPage()
		await page.setContent('<button></button><img src="data:,">')
		assert.ok((await violations(page)).some(v => v.startsWith('button-name')), 'axe does not find a button without a name')
		assert.deepEqual(strangers(['http://elsewhere.example/x'], 'http://127.0.0.1:1'), ['http://elsewhere.example/x'])
		await window.close()
	},

	async 'values that the user has not changed are kept'() {
		await checkValues(await context())
	},

	async 'responses that arrive late keep what is shown'() {
		await checkLate(await context())
	},

	async 'odd values, wrong filters and pages of lists are kept'() {
		await checkOdd(await context())
	},

	async 'streams, lost responses and own events are handled'() {
		await checkStreams(await context())
	},

	async 'a write whose response is lost is done once'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#new/orders')
		await heading(page, 'New order')
		// The shop receives each request, and the page none of the first five responses. That is one more than it tries.
		let lost = 5
		await page.setRequestInterception(true)
		await page.evaluate(() => { // the page waits 9 seconds between its attempts
			const { setTimeout } = window
			window.setTimeout = (f, ms) => setTimeout(f, ms / 30)
		})
		page.on('request', async r => {
			if (r.method() !== 'POST' || lost-- <= 0) return r.continue()
			await fetch(r.url(), { method: 'POST', body: r.postData(), headers: r.headers() })
			await r.abort('connectionreset')
		})
		await enter(page, /^Item id/, '7')
		await enter(page, /^Qty/, '1')
		await tabTo(page, 'Create order')
		await keys(page, 'Enter')
		await noticed(page, 'The server cannot be reached.')
		await at(page, 'Create order', 'the focus stays')
		await keys(page, 'Enter')
		await heading(page, 'Order 4')
		assert.equal(page.sent.length, 6)
		assert.equal(new Set(page.sent.map(r => r.headers['idempotency-key'])).size, 1, 'each try has the same key')
		assert.equal((await ask(shop, 'GET', '/orders', null, { Prefer: 'count=exact' })).value.total, 4, 'one order is created')
		await page.browserContext().close()
		await shop.stop()
	},

	async 'a redirect and a page of HTML are no success'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#new/orders')
		await heading(page, 'New order')
		const faults = [{ status: 302, headers: { Location: '/admin/' } }, { status: 200, contentType: 'text/html', body: '<p>Maintenance</p>' }]
		await page.setRequestInterception(true)
		page.on('request', r => r.method() === 'POST' && faults.length ? r.respond(faults.shift()) : r.continue())
		await enter(page, /^Item id/, '7')
		await enter(page, /^Qty/, '1')
		for (const notice of ['The server redirected the request to create order,', 'The response to the request to create order is not JSON,']) {
			await tabTo(page, 'Create order')
			await keys(page, 'Enter')
			await noticed(page, notice)
		}
		assert.equal((await ask(shop, 'GET', '/orders', null, { Prefer: 'count=exact' })).value.total, 3, 'no order is created')
		await keys(page, 'Enter')
		await heading(page, 'Order 4')
		await page.browserContext().close()
		await shop.stop()
	},

	async 'items are linked and unlinked with the keyboard'() {
		const shop = await startAssortment()
		const page = await open(shop, '#item/products/pen')
		const linked = (page, title, ...want) => until(page, (t, want) => {
			const s = [...document.querySelectorAll('.related')].find(s => s.querySelector('h2').textContent === t)
			return s && [...s.querySelectorAll(':scope > ul > li > a')].map(a => a.textContent).join() === want
		}, `${title} are ${want}`, title, want.join())
		const found = want => until(page, want => [...document.querySelectorAll('form.query li')].map(li => li.textContent).join() === want, `found is ${want}`, want.join())
		const status = s => until(page, s => document.getElementById('status').textContent === s, `the status is ${s}`, s)
		const find = async value => {
			await enter(page, 'Find a category to add', value)
			await keys(page, 'Enter')
		}
		await linked(page, 'Categories', '1: Shelf 1', '2: Shelf 2')
		await linked(page, 'Makers', '1: Ada')
		assert.equal(await page.$$eval('.related', all => all[1].querySelectorAll('button, input').length), 0, 'links that the API cannot change have no control')

		await find('helf 2')
		await found(['2: Shelf 2Added', ...[20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map(n => `${n}: Shelf ${n}Add`)])
		await status('Found 11 categories.')
		await tabTo(page, 'Add 20: Shelf 20')
		await keys(page, 'Enter')
		await linked(page, 'Categories', '1: Shelf 1', '2: Shelf 2', '20: Shelf 20')
		await at(page, 'Add 21: Shelf 21')
		await status('Added 20: Shelf 20.') // a button is ignored until then
		assert.equal(page.sent.at(-1).method, 'PUT')
		assert.ok(page.sent.at(-1).headers['idempotency-key'], 'the write has a key')
		assert.equal((await ask(shop, 'GET', '/memberships/pen,20')).status, 200)

		// An id is found, and a refusal is shown in the section.
		await find('3')
		await found(['3: Shelf 3Add', ...[13, 23].map(n => `${n}: Shelf ${n}Add`), '30: Shelf 30Add'])
		await tabTo(page, 'Add 3: Shelf 3')
		await keys(page, 'Enter')
		await until(page, () => document.querySelector('.related .wrong')?.textContent.startsWith('You are not allowed to add to categories.'), 'the refusal is shown')
		await at(page, 'Add 3: Shelf 3')
		await look(page, 'links')

		await tabTo(page, 'Remove 2: Shelf 2', true)
		await keys(page, 'Enter')
		await linked(page, 'Categories', '1: Shelf 1', '20: Shelf 20')
		await at(page, 'Remove 20: Shelf 20')
		await status('Removed 2: Shelf 2.')
		assert.equal(await page.$('.related .wrong:not(:empty)'), null, 'the error has gone')
		assert.equal((await ask(shop, 'GET', '/memberships/pen,2')).status, 410)

		// Another window removes the link where the focus is, and another client adds one.
		const other = await open(shop, '#item/categories/20')
		await linked(other, 'Products', 'pen: Fountain pen')
		await tabTo(other, 'Remove pen: Fountain pen')
		await keys(other, 'Enter')
		await linked(other, 'Products')
		await at(other, 'Products', 'the heading of an empty list')
		await linked(page, 'Categories', '1: Shelf 1')
		await at(page, 'Remove 1: Shelf 1')
		await status('The categories of this product were changed elsewhere.')
		assert.equal((await ask(shop, 'PUT', '/products/pen/categories/13')).status, 201)
		await linked(page, 'Categories', '1: Shelf 1', '13: Shelf 13')
		await at(page, 'Remove 1: Shelf 1')
		await found(['3: Shelf 3Add', '13: Shelf 13Added', '23: Shelf 23Add', '30: Shelf 30Add'])

		// There are two pages of the categories of the atlas. Removing a link of the second keeps both.
		await page.goto(`${shop.url}/admin/#item/products/atlas`)
		const shelves = [...Array(26).keys()].map(n => n + 4).filter(n => n !== 20).map(n => `${n}: Shelf ${n}`)
		await linked(page, 'Categories', ...shelves.slice(0, 20))
		await tabTo(page, 'More categories')
		await keys(page, 'Enter')
		await linked(page, 'Categories', ...shelves)
		await at(page, shelves[20])
		await tabTo(page, 'Remove 29: Shelf 29')
		await keys(page, 'Enter')
		await linked(page, 'Categories', ...shelves.slice(0, 24))
		await at(page, 'Remove 28: Shelf 28')
		await find('')
		await tabTo(page, 'More found categories')
		await keys(page, 'Enter')
		await until(page, () => document.querySelectorAll('form.query li').length === 30, 'all categories are found')
		await at(page, 'Add 29: Shelf 29')
		for (const p of [page, other]) await p.browserContext().close()
		await shop.stop()
	},

	async 'commands are called with the keyboard'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#list/orders')
		await tabTo(page, 'Cancel stale')
		await keys(page, 'Enter')
		await heading(page, 'Cancel stale')
		await until(page, () => document.activeElement.labels?.[0]?.textContent.startsWith('Older than'), 'the first field has the focus')
		await page.keyboard.type('soon')
		await keys(page, 'Enter')
		await until(page, () => document.activeElement.getAttribute('aria-invalid') === 'true' && document.querySelector('.wrong').textContent, 'the field is refused')
		await look(page, 'command')
		await page.keyboard.down('Control')
		await keys(page, 'a')
		await page.keyboard.up('Control')
		await page.keyboard.type('1h')
		await keys(page, 'Enter')
		await until(page, () => /^Job /.test(document.querySelector('h1').textContent), 'the job is shown')
		await noticed(page, 'Started orders/cancel-stale.')
		assert.ok(page.sent.at(-1).headers['idempotency-key'], 'the call has a key')
		await page.browserContext().close()
		await shop.stop()

		const other = await startAssortment()
		const home = await open(other)
		await tabTo(home, 'Stock: Count')
		await keys(home, 'Enter')
		await heading(home, 'Count')
		await tabTo(home, 'Count')
		await keys(home, 'Enter')
		await until(home, () => document.querySelector('.result dl')?.textContent === 'Products2', 'the output is shown')
		await at(home, 'Result')
		await look(home, 'output')
		await home.browserContext().close()
		await other.stop()
	},

	async 'changes that are not saved are discarded after a question only'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#list/orders')
		await heading(page, 'Orders')
		await page.goto(`${shop.url}/admin/#item/orders/3`)
		await heading(page, 'Order 3')
		await enter(page, 'Note', 'Not saved')
		const noteOf = () => page.$$eval('form.item label', all => all.find(l => l.textContent === 'Note').control.value)
		for (const leave of [() => page.evaluate(() => history.back()), () => page.$eval('#side a', e => e.click())]) {
			await leave()
			await page.waitForSelector('dialog[open]')
			await at(page, 'Cancel')
			await keys(page, 'Escape')
			await closed(page, 'Escape stays')
			assert.equal(await address(page), `${shop.url}/admin/#item/orders/3`)
			assert.equal(await noteOf(), 'Not saved')
		}
		assert.equal((await ask(shop, 'PATCH', '/orders/3', { note: 'Their note' })).status, 200)
		await until(page, () => document.querySelector('.fresh button'), 'the order was changed')
		await page.$eval('.fresh button', e => e.click())
		await page.waitForSelector('dialog[open]')
		await at(page, 'Cancel')
		await keys(page, 'Escape')
		await closed(page, 'Escape keeps the form')
		assert.equal(await noteOf(), 'Not saved')
		await page.evaluate(() => history.back())
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Discard', true)
		await keys(page, 'Enter')
		await until(page, () => !document.querySelector('form.item'), 'the form is left')
		assert.equal((await ask(shop, 'GET', '/orders/3')).value.note, 'Their note')
		await page.browserContext().close()
		await shop.stop()
	},

	async 'an order is created, edited and deleted with the keyboard'() {
		const shop = await start('-db', join(folder, 'a.db'))
		const page = await open(shop)
		await tabTo(page, 'Orders')
		await keys(page, 'Enter')
		await heading(page, 'Orders')
		await at(page, 'Orders', 'a new view has the focus')
		await look(page, 'list')
		await tabTo(page, 'New order')
		await keys(page, 'Enter')
		await heading(page, 'New order')
		await enter(page, /^Item id/, '7')
		await enter(page, /^Qty/, '2000')
		await enter(page, 'Note', 'Please ring twice.')
		await tabTo(page, 'Create order')
		await keys(page, 'Enter')
		await until(page, () => document.activeElement.getAttribute('aria-invalid') === 'true', 'the field with the error has the focus')
		await at(page, /^Qty/)
		assert.match(await page.evaluate(() => document.getElementById(document.activeElement.getAttribute('aria-describedby').split(' ')[0]).textContent), /1000/)
		await look(page, 'errors')
		await tabTo(page, 'Add line')
		await keys(page, 'Enter')
		await at(page, /^Item id/, 'a new line has the focus')
		await page.keyboard.type('8')
		await enter(page, /^Qty/, '1')
		await tabTo(page, 'Remove line 1', true)
		await keys(page, 'Enter')
		await at(page, 'Add line')
		await tabTo(page, 'Create order')
		await keys(page, 'Enter')
		await heading(page, 'Order 4')
		await noticed(page, 'Created order 4.')
		const created = page.sent.at(-1)
		assert.match(created.headers['idempotency-key'], /^"[0-9a-f]{32}"$/)
		assert.deepEqual(JSON.parse(created.body), { status: 'placed', lines: [{ itemId: 8, qty: 1 }], note: 'Please ring twice.' })

		await enter(page, 'Note', 'Ring once.')
		await tabTo(page, 'Save')
		await keys(page, 'Enter')
		await noticed(page, 'Saved.')
		const edited = page.sent.at(-1)
		assert.equal(edited.method, 'PATCH')
		assert.equal(edited.headers['content-type'], 'application/merge-patch+json')
		assert.match(edited.headers['if-match'], /^"/)
		assert.notEqual(edited.headers['idempotency-key'], created.headers['idempotency-key'])
		assert.equal(edited.body, '{"note":"Ring once."}', 'a patch has the changed fields only')
		await at(page, 'Save')
		await look(page, 'item')

		await tabTo(page, 'Delete')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]')
		await at(page, 'Cancel', 'the safe choice has the focus')
		await look(page, 'delete')
		await keys(page, 'Escape')
		await closed(page, 'Escape cancels')
		await at(page, 'Delete', 'the focus returns')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Delete', true)
		await keys(page, 'Enter')
		await heading(page, 'Orders')
		await noticed(page, 'Deleted order 4.')
		assert.match(page.sent.at(-1).headers['if-match'], /^"/)
		assert.equal((await ask(shop, 'GET', '/orders/4')).status, 410)
		await page.browserContext().close()
		await shop.stop()
	},

	async 'a conflict is resolved field by field'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#item/orders/3')
		await heading(page, 'Order 3')
		await enter(page, 'Note', 'My note')
		await enter(page, 'Customer id', '3')
		assert.equal((await ask(shop, 'PATCH', '/orders/3', { note: 'Their note', status: 'paid' })).status, 200)
		await until(page, () => /changed elsewhere/.test(document.querySelector('.fresh').textContent), 'the page reports that the order was changed')
		await tabTo(page, 'Save')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog.conflict[open]')
		const rows = await page.$$eval('.conflict tbody tr', all => all.map(r => [...r.querySelectorAll('th, .value')].map(e => e.textContent)))
		assert.deepEqual(rows, [['Notechanged by both', 'My note', 'Their note'], ['Customer id', '3', '2']])
		assert.match(await text(page, '.conflict'), /Also changed, and kept: Status is now paid/)
		await look(page, 'conflict')
		assert.equal((await ask(shop, 'GET', '/orders/3')).value.note, 'Their note', 'nothing was saved before the choice')
		await page.$eval('.conflict input', e => e.focus())
		await keys(page, 'ArrowRight') // the current note
		// Another client changes a different field before the choice is saved.
		assert.equal((await ask(shop, 'PATCH', '/orders/3', { lines: [{ itemId: 9, qty: 9 }] })).status, 200)
		await tabTo(page, 'Save the choice')
		await keys(page, 'Enter')
		await until(page, () => document.querySelectorAll('.conflict tbody tr').length === 1, 'the second conflict has the other field alone')
		await tabTo(page, 'Save the choice')
		await keys(page, 'Enter')
		await noticed(page, 'Saved.')
		const { note, customerId, status, lines } = (await ask(shop, 'GET', '/orders/3')).value
		assert.deepEqual({ note, customerId, status, lines }, { note: 'Their note', customerId: 3, status: 'paid', lines: [{ itemId: 9, qty: 9 }] })
		await page.browserContext().close()
		await shop.stop()
	},

	async 'changes elsewhere are marked, also those made while the shop was down'() {
		const flags = ['-db', join(folder, 'live.db')]
		let shop = await start(...flags)
		const page = await open(shop, '#list/orders'), other = await open(shop, '#item/orders/2')
		await live(page)
		await heading(other, 'Order 2')
		await enter(other, 'Note', 'From the other window')
		await tabTo(other, 'Save')
		await keys(other, 'Enter')
		await noticed(other, 'Saved.')
		await until(page, () => document.querySelector('tr.updated td, tr.updated th')?.parentElement.textContent.includes('From the other window'), 'the row is marked')
		assert.equal((await ask(shop, 'POST', '/orders', { lines: [{ itemId: 1, qty: 1 }] })).status, 201)
		await until(page, () => document.querySelector('tr.created')?.textContent.startsWith('4'), 'the new row is first')
		await ask(shop, 'DELETE', '/orders/1')
		await until(page, () => document.querySelector('tr.deleted')?.textContent.startsWith('1'), 'the deleted row is marked')
		await until(page, () => /^Order 1 was deleted/.test(document.getElementById('status').textContent), 'changes are announced')
		await look(page, 'live')
		shop.kill('SIGKILL')
		await shop.exited
		await until(page, () => document.querySelector('.live').textContent === 'The connection is lost. Trying again…', 'the loss is said')
		// The shop is started at another address first, so that the change is made before the page is back.
		const elsewhere = await startShop(program, ownAddress, flags, { env: { ...process.env, TMPDIR: folder } })
		assert.equal((await ask(elsewhere, 'PATCH', '/orders/3', { status: 'paid' })).status, 200)
		await elsewhere.stop()
		shop = await start(...flags)
		await live(page)
		await until(page, () => [...document.querySelectorAll('tr.updated')].some(r => r.textContent.startsWith('3') && r.textContent.includes('paid')), 'the page resumes')
		for (const p of [page, other]) await p.browserContext().close()
		await shop.stop()
	},

	async 'lists are filtered, sorted, searched and read page by page'() {
		const shop = await start('-db', 'memory')
		const page = await open(shop, '#list/places', { width: 400 })
		await heading(page, 'Places')
		assert.match(await text(page, '.state'), /^50 of 1,000 items/)
		await tabTo(page, 'Next page')
		const first = await text(page, 'tbody tr')
		await keys(page, 'Enter')
		await until(page, first => document.querySelector('tbody tr').textContent !== first, 'the next page', first)
		await at(page, 'Next page', 'the focus stays')
		await tabTo(page, 'Previous page', true)
		await keys(page, 'Enter')
		await until(page, first => document.querySelector('tbody tr').textContent === first, 'the previous page', first)
		await tabTo(page, 'Add a filter', true)
		await keys(page, 'Enter')
		await at(page, 'Field')
		await option(page, 'Country')
		await tabTo(page, 'Value')
		await page.keyboard.type('CN')
		await keys(page, 'Enter')
		await until(page, () => /^50 of 150 items/.test(document.querySelector('.state').textContent), 'places in China')
		await page.setViewport({ width: 1280, height: 900 })
		await tabTo(page, 'Population')
		await keys(page, 'Enter')
		await until(page, () => document.querySelector('[aria-sort=ascending]')?.textContent === 'Population', 'ascending')
		await page.evaluate(() => document.querySelector('[aria-sort=ascending] button').focus())
		await keys(page, 'Enter')
		await until(page, () => document.querySelector('[aria-sort=descending]') && /Shanghai/.test(document.querySelector('tbody tr').textContent), 'the largest is first')
		await look(page, 'filtered')
		assert.equal(await address(page), `${shop.url}/admin/#list/places?country=CN&sort=-population`, 'the list has a URL')
		await page.goto(`${shop.url}/admin/#list/places?sort=bogus`)
		await until(page, () => document.querySelector('#notice.error p') && !document.querySelector('tbody'), 'the list cannot be read')
		await page.goto(`${shop.url}/admin/#list/places`)
		await until(page, () => document.querySelectorAll('tbody tr').length === 50, 'the list is shown again')
		await page.goto(`${shop.url}/admin/#list/places?sort=country,-population&fields=id,name,country&country=CN`)
		await until(page, () => document.querySelector('[aria-label=Value]')?.value === 'CN', 'the filter of the URL')
		await tabTo(page, 'Value')
		await page.keyboard.type('IT')
		await keys(page, 'Enter')
		await until(page, () => location.hash.includes('country=IT'), 'another country')
		const params = new URLSearchParams((await address(page)).split('?')[1])
		assert.equal(params.get('sort'), 'country,-population', 'the second key of the order is kept')
		assert.equal(params.get('fields'), 'id,name,country', 'other parameters are kept')
		await tabTo(page, 'Clear', true)
		await keys(page, 'Enter')
		await until(page, () => !location.hash.includes('?') && !document.querySelector('[aria-label=Value]'), 'the form is empty')
		await enter(page, 'Search', '"new york"')
		await keys(page, 'Enter')
		await until(page, () => /New York City/.test(document.querySelector('tbody').textContent) && document.querySelectorAll('tbody tr').length < 10, 'a search')
		await page.goto(`${shop.url}/admin/#item/users/2`)
		await until(page, () => document.querySelector('.related')?.textContent.includes('1: shipped'), 'related items are links')
		await tabTo(page, '1: shipped')
		await keys(page, 'Enter')
		await heading(page, 'Order 1')
		await tabTo(page, 'User 2')
		await keys(page, 'Enter')
		await heading(page, 'User 2')
		await look(page, 'user')
		for (let i = 0; i < 25; i++) assert.equal((await ask(shop, 'POST', '/orders', { customerId: 2, lines: [{ itemId: 1, qty: 1 }] })).status, 201)
		await page.reload()
		await until(page, () => document.querySelectorAll('.related li').length === 20, 'the first related items')
		await tabTo(page, 'More orders')
		await keys(page, 'Enter')
		await until(page, () => document.querySelectorAll('.related li').length === 27 && !document.querySelector('.related button'), 'all related items')
		await at(page, await page.$eval('.related li:nth-child(21)', e => e.textContent), 'the first of the new links')
		await page.browserContext().close()
		await shop.stop()
	},

	async 'places are imported with progress'() {
		const shop = await start('-db', join(folder, 'import.db'))
		const page = await open(shop, '#list/places')
		await heading(page, 'Places')
		await tabTo(page, 'Import')
		await keys(page, 'Enter')
		await heading(page, 'Import into places')
		const file = join(folder, 'places.jsonl'), out = createWriteStream(file)
		for (let i = 1; i <= ROWS; i++) {
			out.write(JSON.stringify({ id: `import-${i}`, name: `Place ${i}`, country: i === 17 ? 'Atlantis' : 'GR', population: i }) + '\n')
		}
		await once(out.end(), 'finish')
		await tabTo(page, 'File')
		await choose(page, file)
		await tabTo(page, 'Import')
		await watchProgress(page)
		const began = Date.now()
		await keys(page, 'Enter')
		if (ROWS > 10_000 && pictures) await page.screenshot({ path: join(pictures, 'admin-import-progress.png') })
		const { moves } = await progressOf(page, 'import', false)
		await until(page, () => document.querySelector('.counts'), 'the result')
		const seconds = (Date.now() - began) / 1000
		assert.equal(await text(page, '.counts'), `${(ROWS - 1).toLocaleString('en')} items created, 0 replaced, 1 line rejected.`)
		assert.match(await text(page, '.result tbody'), /^17country must match/)
		await at(page, 'Result')
		await look(page, 'import')
		const total = (await ask(shop, 'GET', '/places?id.startsWith=import-&limit=1', null, { Prefer: 'count=exact' })).value.total
		assert.equal(total, ROWS - 1)
		console.log(`${ROWS} lines of JSON (${(statSync(file).size / 2 ** 20).toFixed(1)} MiB) imported in ${seconds.toFixed(1)} s; the progress has moved ${moves} times`)

		const table = join(folder, 'places.csv')
		writeFileSync(table, 'id,name,country,population\nimport-1,New name,IT,5\ncsv-1,"A, B",FR,\ncsv-2,,FR,1\n')
		await tabTo(page, 'File', true)
		await choose(page, table)
		await until(page, () => document.querySelector('select').value === 'text/csv', 'the format follows from the name')
		await tabTo(page, 'Store all lines or none')
		await keys(page, 'Space')
		await tabTo(page, 'Import')
		await keys(page, 'Enter')
		await until(page, () => /1 line rejected/.test(document.querySelector('.counts')?.textContent), 'all or nothing')
		assert.equal((await ask(shop, 'GET', '/places/csv-1')).status, 404)
		await tabTo(page, 'Store all lines or none', true)
		await keys(page, 'Space')
		await tabTo(page, 'Import')
		await keys(page, 'Enter')
		await until(page, () => document.querySelector('.counts')?.textContent === '1 item created, 1 replaced, 1 line rejected.', 'CSV')
		assert.equal((await ask(shop, 'GET', '/places/csv-1')).value.name, 'A, B')

		writeFileSync(table, 'id,population\nimport-2,9\n')
		await tabTo(page, 'File', true)
		await choose(page, table)
		await tabTo(page, 'Change only the members that the file has')
		await keys(page, 'Space')
		await tabTo(page, 'Import')
		await keys(page, 'Enter')
		await until(page, () => document.querySelector('.counts')?.textContent === '0 items created, 1 replaced, 0 lines rejected.', 'merge')
		const { name, population } = (await ask(shop, 'GET', '/places/import-2')).value
		assert.deepEqual({ name, population }, { name: 'Place 2', population: 9 })
		await page.browserContext().close()
		await shop.stop()
	},

	async 'a deleted item is restored'() {
		const shop = await start('-db', join(folder, 'restore.db'))
		// The shop restores nothing, so the page gets other responses for the requests that matter.
		const description = (await ask(shop, 'GET', '/admin/description.json')).value
		description.resources.find(r => r.name === 'orders').operations.push('restore')
		const order = (await ask(shop, 'GET', '/orders/1')).value
		const page = await open(shop)
		let restored = false
		const respond = (r, value) => r.respond({ status: 200, contentType: 'application/json', body: JSON.stringify(value) })
		await page.setRequestInterception(true)
		page.on('request', r => {
			const { pathname } = new URL(r.url())
			if (pathname === '/orders/1/restore') restored = true
			if (pathname === '/admin/description.json') respond(r, description)
			else if (pathname === '/orders/1/restore') respond(r, order)
			else if (pathname === '/orders/1' && r.method() === 'GET' && restored) respond(r, order)
			else r.continue()
		})
		await page.reload({ waitUntil: 'domcontentloaded' })
		await page.evaluate(() => { location.hash = '#item/orders/1' })
		await heading(page, 'Order 1')
		await tabTo(page, 'Delete')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Delete', true)
		await keys(page, 'Enter')
		await heading(page, 'Orders')
		await noticed(page, 'Deleted order 1.')
		await tabTo(page, 'Restore', true)
		await look(page, 'restore')
		await keys(page, 'Enter')
		await heading(page, 'Order 1')
		await noticed(page, 'Restored order 1.')
		assert.equal(page.sent.at(-1).method, 'POST')
		assert.match(page.sent.at(-1).url, /\/orders\/1\/restore$/)
		assert.match(page.sent.at(-1).headers['idempotency-key'], /^"[0-9a-f]{32}"$/)
		// The address of a deleted item offers it, too.
		restored = false
		await page.evaluate(() => { location.hash = '#list/orders' })
		await heading(page, 'Orders')
		await page.evaluate(() => { location.hash = '#item/orders/1' })
		await until(page, () => document.querySelector('#view').textContent.includes('This order was deleted.'), 'the item is deleted')
		await tabTo(page, 'Restore')
		await look(page, 'deleted')
		await keys(page, 'Enter')
		await noticed(page, 'Restored order 1.')
		await page.waitForSelector('form.item')
		await page.browserContext().close()
		await shop.stop()
	},

	async 'a file is uploaded with progress, downloaded and deleted'() {
		const shop = await start('-db', 'memory'), slow = await tunnel(shop.url)
		shops.push({ url: slow.url, flags: [], kill() {} })
		const page = await open(slow, '#files/files')
		await heading(page, 'Files')
		const file = join(folder, 'large.bin'), out = createWriteStream(file), hash = createHash('sha256')
		for (let left = BYTES; left > 0; left -= 1 << 20) {
			const chunk = Buffer.alloc(Math.min(left, 1 << 20), `${left} `)
			hash.update(chunk)
			if (!out.write(chunk)) await once(out, 'drain')
		}
		await once(out.end(), 'finish')
		await tabTo(page, 'File')
		await choose(page, file)
		await tabTo(page, 'Upload')
		await watchProgress(page)
		// The shop receives the first eighth. The tunnel holds the rest until the page has reported that it is sending.
		slow.hold(BYTES / 8)
		const began = Date.now()
		await keys(page, 'Enter')
		await until(page, () => window.progress.steps.has('Sending'), 'the page reports that it is sending')
		slow.release()
		const { moves, heap } = await progressOf(page, 'upload', true)
		await noticed(page, 'large.bin was stored')
		const seconds = (Date.now() - began) / 1000
		const put = page.sent.at(-1)
		assert.equal(put.method, 'PUT')
		assert.equal(put.headers['if-none-match'], '*')
		assert.match(put.headers['content-digest'], /^sha-256=:/)
		assert.ok(heap < 64 << 20, `the page uses ${heap >> 20} MiB`)
		const stored = (await ask(shop, 'GET', '/files')).value.items[0]
		assert.deepEqual([stored.id, stored.size, stored.sha256], ['large.bin', BYTES, hash.digest('hex')])
		await until(page, () => document.querySelector('tr.created')?.textContent.includes('large.bin'), 'the list has the file')
		await look(page, 'files')
		console.log(`${BYTES} bytes uploaded in ${seconds.toFixed(1)} s; the progress has moved ${moves} times; at most ${(heap / 2 ** 20).toFixed(0)} MiB of JavaScript`)

		const small = join(folder, 'large.txt')
		writeFileSync(small, 'small')
		await tabTo(page, 'File', true)
		await choose(page, small)
		await enter(page, 'Name', 'large.bin')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Replace', true)
		await keys(page, 'Enter')
		await noticed(page, 'large.bin was replaced')
		assert.match(page.sent.at(-1).headers['if-match'], /^"/)
		const client = await page.createCDPSession(), down = join(folder, 'down')
		await client.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: down, browserContextId: page.browserContext().id, eventsEnabled: true })
		const done = new Promise(resolve => client.on('Browser.downloadProgress', e => { if (e.state === 'completed') resolve() }))
		await tabTo(page, 'Download large.bin')
		await keys(page, 'Enter')
		await done
		assert.equal(readFileSync(join(down, 'large.bin'), 'utf8'), 'small')
		await tabTo(page, 'Delete large.bin')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Delete', true)
		await keys(page, 'Enter')
		await noticed(page, 'large.bin was deleted')
		assert.equal((await ask(shop, 'GET', '/files/large.bin')).status, 410)
		await page.browserContext().close()
		slow.close()
		await shop.stop()
	},

	async 'a file that a link opens plays and has its styles, and runs no script'() {
		const shop = await start('-db', 'memory'), page = await open(shop, '#files/files')
		const wav = Buffer.alloc(8044, 128) // a second of silence
		wav.write('RIFF\0\0\0\0WAVEfmt ')
		wav.write('data', 36)
		for (const [at, value] of [[4, 8036], [16, 16], [20, 0x10001], [24, 8000], [28, 8000], [32, 0x80001], [40, 8000]]) wav.writeUInt32LE(value, at)
		const svg = '<svg xmlns="http://www.w3.org/2000/svg"><style>rect { fill: rgb(1, 2, 3) }</style><rect style="stroke: rgb(4, 5, 6)"/><script>document.documentElement.id = "ran"</script></svg>'
		for (const [name, type, body] of [['a.wav', 'audio/wav', wav], ['a.svg', 'image/svg+xml', svg]]) {
			assert.equal((await fetch(`${shop.url}/files/${name}`, { method: 'PUT', body, headers: { 'Content-Type': type } })).status, 201)
		}
		await page.goto(`${shop.url}/files/a.wav`)
		await page.waitForFunction(() => document.querySelector('video').readyState > 0, { polling: 50 })
		assert.equal(await page.$eval('video', v => v.duration), 1)
		assert.deepEqual(messages, [])
		await page.goto(`${shop.url}/files/a.svg`)
		assert.deepEqual(await page.$eval('rect', r => [getComputedStyle(r).fill, getComputedStyle(r).stroke, document.documentElement.id]), ['rgb(1, 2, 3)', 'rgb(4, 5, 6)', ''])
		for (const m of messages.splice(0)) assert.match(m, /Blocked script execution/)
		await page.browserContext().close()
		await shop.stop()
	},

	async 'users see what they may, and refusals are plain'() {
		const shop = await start('-db', 'memory', '-auth')
		const page = await open(shop, '#list/orders')
		await page.waitForSelector('#login[open]')
		await at(page, 'Email')
		await look(page, 'login')
		await page.keyboard.type('bob@example.com')
		await enter(page, 'Password', 'wrong')
		await keys(page, 'Enter')
		await until(page, () => /wrong/.test(document.querySelector('#login .wrong').textContent), 'a wrong password')
		await at(page, 'Password')
		await page.keyboard.down('Control')
		await keys(page, 'a')
		await page.keyboard.up('Control')
		await page.keyboard.type('bob')
		await keys(page, 'Enter')
		await until(page, () => document.querySelectorAll('tbody tr').length === 2, 'bob sees his two orders')
		await page.goto(`${shop.url}/admin/#item/users/2`)
		await heading(page, 'User 2')
		await tabTo(page, 'Role')
		await option(page, 'admin')
		await tabTo(page, 'Save')
		await keys(page, 'Enter')
		await noticed(page, 'You are not allowed to change this user.')
		await look(page, 'refused')
		// The session ends, and the edits are there after the next one has begun.
		await page.goto(`${shop.url}/admin/#item/orders/1`)
		await page.waitForSelector('dialog[open]')
		await tabTo(page, 'Discard', true)
		await keys(page, 'Enter')
		await heading(page, 'Order 1')
		await enter(page, 'Note', 'Kept')
		await page.setRequestInterception(true)
		let expired = true
		page.on('request', r => expired && r.method() === 'PATCH'
			? r.respond({ status: 401, contentType: 'application/problem+json', body: '{"detail":"The token has expired."}' }) : r.continue())
		await tabTo(page, 'Save')
		await keys(page, 'Enter')
		await page.waitForSelector('#login[open]')
		await at(page, 'Email')
		expired = false
		await page.keyboard.type('bob@example.com')
		await enter(page, 'Password', 'bob')
		await keys(page, 'Enter')
		await until(page, () => !document.getElementById('login').open, 'bob has signed in')
		await until(page, () => document.getElementById('status').textContent.startsWith('Signed in.'), 'the page reports that')
		assert.equal(await page.$$eval('form.item label', all => all.find(l => l.textContent === 'Note').control.value), 'Kept')
		// A failed attempt to sign in as another user keeps the session.
		await tabTo(page, 'Account', true)
		await keys(page, 'Enter')
		await page.waitForSelector('#login[open]')
		await at(page, 'Email')
		await page.keyboard.type('ann@example.com')
		await enter(page, 'Password', 'wrong')
		await keys(page, 'Enter')
		await until(page, () => /wrong/.test(document.querySelector('#login .wrong').textContent), 'a wrong password')
		await keys(page, 'Escape')
		await closed(page, 'Escape closes the dialog')
		await tabTo(page, 'Save')
		const [write] = await Promise.all([page.waitForRequest(r => r.method() === 'PATCH'), keys(page, 'Enter')])
		assert.match(write.headers().authorization, /^Bearer /, 'the session of bob remains')
		// Signing out asks for changes that are not saved, as leaving the view does.
		await until(page, () => !document.querySelector('fieldset.all').disabled, 'the form has its response')
		await enter(page, 'Note', 'Not saved')
		await tabTo(page, 'Account', true)
		await keys(page, 'Enter')
		await page.waitForSelector('#login[open]')
		await tabTo(page, 'Sign out')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]:not(#login)')
		await at(page, 'Cancel')
		await keys(page, 'Enter')
		await closed(page, 'the question is closed', '#login')
		await at(page, 'Sign out', 'the focus returns')
		assert.equal(await page.$$eval('form.item label', all => all.find(l => l.textContent === 'Note').control.value), 'Not saved')
		await keys(page, 'Enter')
		await page.waitForSelector('dialog[open]:not(#login)')
		await tabTo(page, 'Discard', true)
		await keys(page, 'Enter')
		await page.waitForSelector('#login[open]')
		await until(page, () => document.getElementById('account').textContent === 'Sign in' && !document.querySelector('form.item'), 'nothing is left')
		await page.browserContext().close()
		await shop.stop()
	},
}

try {
	for (const [name, part] of Object.entries(parts)) {
		if (process.env.PART && !name.includes(process.env.PART)) continue
		const began = Date.now()
		await part()
		console.log(`ok    ${((Date.now() - began) / 1000).toFixed(1).padStart(5)}s  admin: ${name}`)
	}
	assert.deepEqual(messages, [], 'the console')
	assert.deepEqual(strangers(requested, ...shops.map(s => s.url)), [], 'the page requests other hosts')
} finally {
	for (const shop of shops) shop.kill('SIGKILL')
	await close()
}
