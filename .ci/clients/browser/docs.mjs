// The documentation page of the shop in Chromium, for each contract of which the shop has an OpenAPI document.
//
//   node docs.mjs URL [FOLDER]    FOLDER receives screenshots
//
// - The first screen shows operations. Every operation of the document is listed and has a view.
// - axe finds no violation on each kind of view, at two widths, in light and dark colors.
// - The page is used with the keyboard alone: search, the form, a request and its response.
// - The code that the page shows is correct: the command of curl runs, Go and TypeScript compile.
// - The console is empty, and nothing but the page and its documents is requested.
//
// Each contract is opened in a browser context that sends all of its requests through a proxy of this check: those of the
// page, of workers and of WebSockets, to this machine and to other hosts. The control sends one of each.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch, pageIn, strangers } from './chromium.mjs'
import { values } from './docs_values.mjs'
import { recorder } from './recorder.mjs'

const [url, pictures] = process.argv.slice(2)
const { context, close } = await launch()
const folder = mkdtempSync(join(tmpdir(), 'docs-'))
const modules = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules')
const root = join(modules, '..', '..', '..')
const axe = readFileSync(join(modules, 'axe-core', 'axe.min.js'), 'utf8')

// open calls visit with a page of a new context. It returns the requests and the messages of the console. until resolves when
// a URL was requested.
async function open(visit) {
	const messages = [], proxy = await recorder(url)
	const window = await context({ proxyServer: proxy.url, proxyBypassList: ['<-loopback>'] })
	try {
		const page = await pageIn(window, { timeout: 120_000 })
		page.on('console', m => messages.push(`${m.type()}: ${m.text()}`))
		page.on('pageerror', e => messages.push(`error: ${e.message}`))
		await visit(page, proxy.until, messages)
	} finally {
		await window.close()
		await proxy.close()
	}
	return { asked: proxy.requested, messages }
}

// go shows the view of a fragment and waits for its heading.
async function go(page, fragment, heading) {
	await page.evaluate(f => { location.hash = f }, fragment)
	await page.waitForFunction(h => document.querySelector('main h1')?.textContent.startsWith(h), {}, heading)
}

// violations returns those that axe finds on the page as it is.
async function violations(page) {
	await page.evaluate(axe)
	return page.evaluate(async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
		.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).join(', ')}`))
}

// look checks the views at two widths in light and dark colors.
async function look(page, contract, views) {
	for (const width of [1280, 400]) {
		for (const value of ['light', 'dark']) {
			await page.setViewport({ width, height: 800 })
			await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
			for (const [name, fragment, heading] of views) {
				await go(page, fragment, heading)
				const at = `${contract}, ${name}, ${width}, ${value}`
				assert.deepEqual(await violations(page), [], `${at}: axe`)
				assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${at}: the page is too wide`)
				if (pictures) await page.screenshot({ path: join(pictures, `docs-${contract}-${name}-${width}-${value}.png`) })
			}
		}
	}
	await page.setViewport({ width: 1280, height: 800 })
}

// samples returns the code of an operation in each language.
const samples = page => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#panel [role=tab]')].map(tab => {
	tab.click()
	return [tab.textContent, document.querySelector('#panel pre.sample').textContent]
})))

// compile checks the code of all operations: Go by go vet, and TypeScript in strict mode.
function compile(all) {
	const go = join(folder, 'go'), ts = join(folder, 'ts')
	mkdirSync(go)
	mkdirSync(ts)
	writeFileSync(join(go, 'go.mod'), 'module samples\n\ngo 1.26\n')
	for (const [id, code] of Object.entries(all)) {
		mkdirSync(join(go, id.toLowerCase()))
		writeFileSync(join(go, id.toLowerCase(), 'sample.go'), code.Go)
		writeFileSync(join(ts, `${id}.ts`), `${code.TypeScript}\nexport {};\n`)
	}
	execFileSync('go', ['vet', './...'], { cwd: go, stdio: 'inherit' })
	execFileSync(join(modules, '.bin', 'tsc'), ['--noEmit', '--strict', '--target', 'es2022', '--module', 'es2022', '--lib', 'es2022,dom', '--skipLibCheck', ...Object.keys(all).map(id => join(ts, `${id}.ts`))], { stdio: 'inherit' })
}

// focus waits until the focus is where the next key has to go.
const focus = (page, selector) => page.waitForFunction(s => document.activeElement.matches(s), {}, selector)

// closed waits until no dialog is open and the focus has left it.
const closed = page => page.waitForFunction(() => !document.querySelector('dialog[open]') && !document.activeElement.closest('dialog'))

// walk uses the page with the keyboard alone: an order is created, and the command of curl creates another one.
async function walk(page) {
	const heading = h => page.waitForFunction(h => document.querySelector('main h1')?.textContent.startsWith(h), {}, h)
	await focus(page, '#main')
	await page.keyboard.press('/')
	await focus(page, '#search')
	await page.keyboard.type('create order')
	await page.waitForFunction(() => document.querySelector('#found [aria-selected=true]')?.textContent.includes('Create an order'))
	await page.keyboard.press('Enter')
	await page.waitForFunction(() => location.hash === '#createOrder' && document.querySelector('main h1')?.textContent === 'Create an order')
	await focus(page, '#main')
	await page.keyboard.press('t')
	await focus(page, '#panel *')
	const reached = new Set()
	for (let i = 0; i < 12; i++) {
		reached.add(await page.evaluate(() => document.activeElement.closest('#panel') && (document.activeElement.labels?.[0]?.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent)))
		if (await page.evaluate(() => document.activeElement.textContent === 'New key')) await page.keyboard.press('Enter')
		await page.keyboard.press('Tab')
	}
	for (const want of ['Idempotency-Key', 'Request body', 'Send']) assert.ok([...reached].some(r => r?.startsWith(want)), `Tab does not reach ${want}: ${[...reached]}`)
	await page.keyboard.down('Control')
	await page.keyboard.press('Enter')
	await page.keyboard.up('Control')
	// The button changes its text when the whole response is shown.
	await page.waitForFunction(() => document.querySelector('#answer b')?.textContent.startsWith('201') && document.querySelector('#send').textContent === 'Send')
	const created = JSON.parse(await page.$eval('#answer pre', e => e.textContent))
	assert.ok(created.id && created.lines.length, `the response is ${JSON.stringify(created)}`)
	const { curl } = await samples(page)
	assert.match(curl, /-H 'Idempotency-Key: "[0-9a-f-]{36}"'/)
	const again = JSON.parse(execFileSync('sh', ['-c', `${curl.replace('curl', 'curl -s')}`], { encoding: 'utf8' }))
	assert.deepEqual(again, created, 'the command of curl with the same key is replayed')
	await page.evaluate(() => document.activeElement.blur())
	await page.keyboard.press('?')
	await focus(page, 'dialog#keys[open] *')
	await page.keyboard.press('Escape')
	await closed(page)
	await page.evaluate(() => document.activeElement.blur())
	await page.keyboard.press('a')
	await focus(page, 'dialog#login[open] input')
	await page.keyboard.type('s3cret')
	await page.keyboard.press('Enter')
	await page.waitForFunction(() => document.querySelector('#panel pre.sample').textContent.includes('Bearer s3cret'))
	await closed(page)
	await page.keyboard.press('c')
	await heading('Compare versions')
	await focus(page, '#main')
	await page.keyboard.press('h')
	await heading('The shop')
	console.log('ok    docs: search, form, request and dialogs by keyboard; the command of curl runs')
}

// regressions checks parts of the page that were wrong: comparisons as parameters, text in Markdown, fragments, and keys.
async function regressions(page) {
	await go(page, 'listOrders', 'List orders')
	const names = await page.$$eval('#panel .input label', all => all.map(l => l.textContent))
	assert.ok(names.includes('createdAt.gte'), `the form has no comparison: ${names}`)
	assert.ok(!names.includes('where'), 'the form has the object of the comparisons')
	await page.evaluate(() => {
		const input = [...document.querySelectorAll('#panel .input')].find(e => e.textContent === 'createdAt.gte').querySelector('input')
		input.value = '2026-01-31T12:00:00Z'
		input.dispatchEvent(new Event('input'))
	})
	assert.match(await page.$eval('#panel .address', e => e.textContent), /\/orders\?createdAt\.gte=2026-01-31T12%3A00%3A00Z$/)
	const files = ['resource/httpbody/page/dom.js', 'resource/openapi/docspage/markdown.js']
	const source = files.map(name => readFileSync(join(root, name), 'utf8')).join('\n')
		.replace(/^import .*|^export /gm, '')
	const html = text => page.evaluate(`(() => { ${source}\nreturn markdown(${JSON.stringify(text)}).map(e => e.outerHTML).join('') })()`)
	for (const [text, want] of [
		['a \\*b\\* `\\*`', '<p>a *b* <code>\\*</code></p>'],
		['a\n\n    b\n\n      c\n\nd', '<p>a</p><pre tabindex="0"><code>b\n\n  c\n</code></pre><p>d</p>'],
		['2. a\n   b\n\n3. c\n- d', '<ol start="2"><li>a b</li><li>c</li></ol><ul><li>d</li></ul>'],
	]) assert.equal(await html(text), want)
	await go(page, '%E0%A4%A', 'The shop')
	await go(page, 'comparison', 'The shop')

	// After a dialog is closed, the focus is in its input until the next frame. A key that is pressed before is not lost.
	await page.evaluate(() => {
		document.activeElement.blur()
		document.getElementById('auth').click()
		const dialog = document.querySelector('dialog#login'), input = dialog.querySelector('input')
		input.focus()
		dialog.close()
		input.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true, cancelable: true }))
	})
	await page.waitForFunction(() => document.querySelector('main h1')?.textContent === 'Compare versions')

	// A view that is requested while the other document is read is not replaced by the comparison.
	await go(page, '', 'The shop')
	const shown = await page.evaluate(async () => {
		const { fetch } = window, next = () => new Promise(done => setTimeout(done))
		let release = null, read
		const parsed = new Promise(done => { read = done })
		window.fetch = async (...args) => {
			await new Promise(done => { release = done })
			const answer = await fetch(...args), value = await answer.text()
			answer.text = async () => (read(), value)
			return answer
		}
		// The first other version was read by the comparison before.
		location.hash = `compare/${[...document.querySelector('#version').options].filter(o => !o.selected)[1].value}`
		while (!release) await next()
		location.hash = 'listOrders'
		while (!document.querySelector('main h1').textContent.startsWith('List orders')) await next()
		window.fetch = fetch
		release()
		const late = new Promise((_, fail) => setTimeout(() => fail(new Error('the document is not read in 20 s')), 20_000))
		await Promise.race([parsed, late])
		await next() // the page continues in the same task as parsed
		return document.querySelector('main h1').textContent
	})
	assert.equal(shown, 'List orders')
}

async function check(contract) {
	const source = `${url}/openapi/${contract}.json`
	const document = await (await fetch(source)).json()
	const operations = Object.values(document.paths).flatMap(item => Object.values(item)).filter(o => o.operationId)
	assert.ok(operations.length, `${contract} has no operations`)
	const code = {}
	const { asked, messages } = await open(async page => {
		await page.goto(`${url}/docs?version=${contract}`)
		await page.waitForSelector('main h1')
		assert.equal(await page.$eval('main h1 small', e => e.textContent), contract, 'another contract is shown')
		for (const width of [400, 1280]) {
			await page.setViewport({ width, height: 800 })
			const seen = await page.$$eval('main a.operation', all => all.filter(a => a.getBoundingClientRect().bottom < innerHeight && a.getBoundingClientRect().height).length)
			assert.ok(seen >= 5, `${contract}: the first screen of ${width} pixels shows ${seen} operations`)
		}
		const listed = await page.$$eval('main a.operation', all => all.map(a => a.dataset.id))
		assert.deepEqual(operations.map(o => o.operationId).filter(id => !listed.includes(id)), [], `${contract}: operations that are not listed`)
		for (const o of operations) {
			await go(page, o.operationId, o.summary)
			code[o.operationId] = await samples(page)
			assert.ok(Object.values(code[o.operationId]).every(Boolean), `${contract}: ${o.operationId} has no code`)
		}
		const views = [['all', '', 'The shop'], ['create', 'POST /orders', 'Create an order'], ['list', 'listOrders', 'List orders'],
			['schema', 'schema/Order', 'Order'], ['about', 'about', 'About'], ['compare', 'compare', 'Compare']]
		await look(page, contract, contract === '2.0.0' ? views : views.slice(0, 2))
		if (contract === '2.0.0') await regressions(page)
		if (contract === '2.0.0') await walk(page)
	})
	if (contract === '2.0.0') {
		compile(code)
		console.log(`ok    docs: the code of ${operations.length} operations compiles in Go and TypeScript`)
	}
	assert.deepEqual(messages, [], `${contract}: the console`)
	assert.ok(asked.includes(source), `${contract}: its document was not requested`)
	const expected = asked.filter(a => /^[^?]*\/(docs|openapi\/[0-9.]+\.json)(\?|$)/.test(a) || contract === '2.0.0' && a.endsWith('/orders'))
	assert.deepEqual(asked.filter(a => !expected.includes(a) && !/^(data|about):/.test(a)), [], `${contract}: other requests`)
	assert.deepEqual(strangers(asked, url), [], `${contract}: requests to other hosts`)
	console.log(`ok    docs: ${contract}: ${operations.length} operations shown, no violation of axe, no message, no other host requested`)
}

try {
	const others = ['http://elsewhere.example/pixel.gif', 'http://worker.example/', 'socket.example:80']
	const control = await open(async (page, until, messages) => {
		await page.setContent('<!doctype html><img src="http://elsewhere.example/pixel.gif">')
		await page.evaluate(() => {
			new Worker('data:text/javascript,fetch("http://worker.example/")')
			new WebSocket('ws://socket.example')
		})
		await Promise.all(others.map(until))
		assert.ok((await violations(page)).some(v => v.startsWith('image-alt')), 'axe finds an image without a text')
		while (!messages.some(m => /pixel|Failed to load resource/.test(m))) await new Promise(done => setTimeout(done, 20))
	})
	assert.deepEqual(strangers(control.asked, url).sort(), others, 'requests of a page, a worker and a WebSocket')
	console.log('ok    docs: a page that requests another host, by itself, a worker or a WebSocket, is detected, and an image without a text')
	const index = await (await fetch(`${url}/openapi`)).text()
	const contracts = [...index.matchAll(/\/openapi\/([0-9.]*)\.json/g)].map(m => m[1])
	assert.ok(contracts.length >= 3, `there are fewer than three contracts: ${contracts}`)
	for (const contract of contracts) await check(contract)
	await values(url)
} finally {
	await close()
	rmSync(folder, { recursive: true, force: true })
}
