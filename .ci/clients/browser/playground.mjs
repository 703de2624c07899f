// The GraphQL page in Chromium, used with the keyboard alone, at an endpoint that serves orders and their customers.
//
//   node playground.mjs URL [FOLDER]    FOLDER receives screenshots
//
// Each part has the name of what it proves. It waits for states of the page, never for a time. A request to another host and a
// message of the console are failures.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { launch, pageIn, strangers as outside } from './chromium.mjs'

const [url, pictures] = process.argv.slice(2), { origin } = new URL(url)
const { context, close } = await launch(), session = await context()
const asked = [], objections = []
let page, sent = []

// visit opens a tab in which everything is watched. answer, if given, answers a request of the page instead of the server:
// it returns an object for the answer, 'hold' to let it wait, or nothing.
async function visit(to = url, { width = 1280, height = 800, answer } = {}) {
	page = await pageIn(session, { width, height })
	page.on('console', m => {
		// A response with status 400 is a message of the console, too.
		if (!/Failed to load resource.* 40\d/.test(m.text())) objections.push(`${m.type()}: ${m.text()}`)
	})
	page.on('pageerror', e => objections.push(`error: ${e.message}`))
	page.on('request', r => asked.push(r.url()))
	sent = []
	page.on('request', r => r.method() === 'POST' && !r.postData().includes('IntrospectionQuery') && sent.push({ body: r.postData(), headers: r.headers() }))
	if (answer) {
		await page.setRequestInterception(true)
		page.on('request', r => {
			const said = r.method() === 'POST' && answer(r.postData(), r)
			if (said === 'hold') return
			if (said) r.respond({ status: said.status ?? 200, contentType: said.type ?? 'application/graphql-response+json', body: typeof said.body === 'string' ? said.body : JSON.stringify(said.body) })
			else r.continue()
		})
	}
	await page.goto(to)
	await until(() => document.querySelector('#docs-body .field, #docs-body p'), 'the docs')
	return page
}

const until = (f, what, ...args) => page.waitForFunction(f, {}, ...args).catch(e => assert.fail(`${what}: ${e.message}`))
const see = (f, ...args) => page.evaluate(f, ...args)
const text = selector => page.$eval(selector, e => e.value || e.textContent)
const at = name => until(n => (document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent) === n, `the focus is at ${name}`, name)
const focused = () => see(() => document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent)
async function keys(...chords) {
	for (const chord of chords) {
		const parts = chord.split(/(?<=.)-/), last = parts.pop()
		for (const k of parts) await page.keyboard.down(k)
		await page.keyboard.press(last)
		for (const k of parts.reverse()) await page.keyboard.up(k)
	}
}
const type = s => page.keyboard.type(s)
const go = letter => keys(`Alt-Shift-Key${letter}`)
const status = (part, what) => until(p => document.querySelector('#status').textContent.includes(p), what ?? `the status line has ${part}`, part)
async function write(s) {
	await go('Q')
	await keys('Control-a', 'Delete', 'Escape')
	// As pasted: nothing is completed and no bracket closes itself.
	await see(s => document.execCommand('insertText', false, s), s)
}
// answered waits until no request is in flight, in which Control-Enter would cancel it.
const answered = () => until(() => document.querySelector('#run').textContent === 'Run' && /[0-9]/.test(document.querySelector('#about').textContent), 'an answer')
async function run() {
	const before = sent.length
	await keys('Control-Enter')
	await answered()
	assert.equal(sent.length, before + 1, 'one request')
	return JSON.parse(await text('#answer-text'))
}
const picture = async name => pictures && page.screenshot({ path: join(pictures, `page-${name}.png`) })
const editor = id => `#${id} textarea`
const content = (id, want) => until((id, want) => document.querySelector(`#${id} textarea`).value === want, `the ${id} are ${want}`, id, want)
// marked waits until the editor marks these texts.
const marked = (id, want) => until((id, want) => [...document.querySelectorAll(`#${id} .wrong`)].filter(x => !x.closest('.numbers')).map(x => x.textContent).join('|') === want, `the marks of ${id} are ${want}`, id, want.join('|'))
const marks = id => page.$$eval(`#${id} .wrong`, all => all.filter(x => !x.closest('.numbers')).map(x => x.textContent))

// asked_for sends an operation over HTTP, beside the page.
async function asked_for(query, variables) {
	const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables }) }).then(r => r.json())
	assert.equal(answer.errors, undefined, JSON.stringify(answer.errors))
	return answer.data
}
const placed = async () => (await asked_for('mutation { createOrder(input: { lines: [{ itemId: 1, qty: 1 }] }) { id } }')).createOrder.id
const change = (id, status) => asked_for(`mutation ($id: ID!) { patchOrder(id: $id, input: { status: ${status} }) { id } }`, { id })
// place returns the cursor at which subscriptions begin, so that they receive each later change.
const place = async () => (await asked_for('{ orders(first: 1) { eventCursor } }')).orders.eventCursor
const shown = () => see(() => [...document.querySelectorAll('#answer-text .event')].map(e => [e.querySelector('small').textContent, JSON.parse(e.textContent.replace(/^[^{]*/, '')).data?.orderChanged]))
const entries = n => until(n => document.querySelectorAll('#answer-text .event').length === n, `${n} results`, n)

// strangers returns the requested URLs of other hosts.
const strangers = () => outside(asked, origin)

// nameless returns the controls and parts of the page without an accessible name. counts receives the number of each role.
async function nameless(counts = {}) {
	const needs = ['button', 'textbox', 'combobox', 'searchbox', 'tab', 'tabpanel', 'listbox', 'option', 'link', 'tablist', 'toolbar', 'region', 'complementary', 'separator', 'splitter', 'dialog']
	const found = []
	const walk = node => {
		counts[node.role] = (counts[node.role] ?? 0) + 1
		if (needs.includes(node.role) && !node.name) found.push(`${node.role} ${JSON.stringify(node).slice(0, 120)}`)
		for (const child of node.children ?? []) walk(child)
	}
	walk(await page.accessibility.snapshot({ interestingOnly: false }))
	return found
}

const parts = {
	async 'what must be caught is caught'() {
		await visit()
		await page.goto('about:blank')
		await page.setContent('<button></button><input><img src="http://elsewhere.example/pixel.gif">')
		assert.deepEqual(strangers(), ['http://elsewhere.example/pixel.gif'])
		while (!objections.length) await new Promise(done => setTimeout(done, 20)) // a message can arrive after the page has loaded
		assert.equal(objections.length, 1, 'the image that is not there')
		assert.equal((await nameless()).length, 2)
		asked.length = objections.length = 0
		await page.close()
	},

	async 'a first visit has something to run'() {
		await visit()
		await until(() => document.querySelector('#query textarea').value.includes('nodes'), 'a document to begin with')
		await at('GraphQL document')
		assert.match(await page.title(), /\S/)
		assert.equal(await see(() => document.documentElement.lang), 'en')
		const answer = await run()
		assert.equal(answer.errors, undefined)
		assert.match(await text('#about'), /^200.* ms .* k?B$/)
		await picture('first')
	},

	async 'a query is typed, with completion'() {
		await keys('Control-a', 'Delete')
		await type('{')
		await keys('Enter')
		await type('or')
		await until(() => document.querySelector('#choices [aria-selected=true]'), 'completions')
		const active = await see(() => {
			const area = document.activeElement, option = document.getElementById(area.getAttribute('aria-activedescendant'))
			return { role: option.getAttribute('role'), list: option.parentElement.id === area.getAttribute('aria-controls'), shown: option.textContent }
		})
		assert.deepEqual({ role: active.role, list: active.list }, { role: 'option', list: true })
		for (let n = 0; n < 10 && await see(() => document.querySelector('#choices [aria-selected=true] b').textContent !== 'orders'); n++) await keys('ArrowDown')
		await picture('completion')
		await keys('Enter')
		await type('no')
		await keys('Enter')
		await type('i')
		await keys('Enter', 'Enter')
		await type('sta')
		await until(() => document.querySelector('#choices [aria-selected=true] b').textContent === 'status', 'status is offered')
		await keys('Tab', 'Enter')
		await type('cust')
		for (let n = 0; n < 10 && await see(() => document.querySelector('#choices [aria-selected=true] b').textContent !== 'customer'); n++) await keys('ArrowDown')
		await keys('Enter')
		await type('em')
		await keys('Enter')
		await content('query', '{\n  orders {\n    nodes {\n      id\n      status\n      customer {\n        email\n      }\n    }\n  }\n}')
		assert.equal(await see(() => document.querySelector('#popup').hidden), true)
	},

	async 'it runs with Ctrl-Enter'() {
		const answer = await run()
		assert.ok(answer.data.orders.nodes.length > 0 && answer.data.orders.nodes[0].status)
		assert.ok(answer.data.orders.nodes.some(o => o.customer?.email))
		await status('Answer: 200')
		assert.equal(JSON.parse(sent.at(-1).body).query, await text(editor('query')))
		assert.match(sent.at(-1).headers.accept, /^application\/graphql-response\+json/)
		await picture('answer')
	},

	async 'arguments, enums and brackets are completed too'() {
		await write('')
		await type('query Q {')
		await keys('Enter')
		await type('orders(fil')
		await keys('Enter')
		await type('{stat')
		await keys('Enter')
		await type('{e')
		await keys('Enter', 'Control-Space')
		const values = await page.$$eval('#choices b', all => all.map(x => x.textContent))
		assert.ok(values.includes('paid') && values.includes('shipped'), values.join())
		await type('pai')
		await keys('Enter')
		await content('query', 'query Q {\n  orders(filter: {status: {eq: paid}})\n}')
		await keys('End')
		await type(' {')
		await keys('Enter')
		await type('totalC')
		await keys('Enter')
		const answer = await run()
		assert.ok(answer.data.orders.totalCount >= 0, JSON.stringify(answer))
	},

	async 'what is wrong is marked, with line and column'() {
		await write('{\n  orders(frist: 1) {\n    nodes { id statsu customer }\n  }\n}')
		await marked('query', ['frist', 'statsu', 'customer'])
		assert.equal(await see(() => document.activeElement.getAttribute('aria-invalid')), 'true')
		await keys('F8')
		await status('line 2, column 10: orders has no argument frist. Did you mean first?')
		await keys('F8')
		await status('line 3, column 16')
		await picture('marks')
		await write('{ orders { nodes { id }')
		await status('Expected }, found the end.')
		await write('query Q($id: ID!, $n: Int) { order(id: $id) { id } user(id: true) { id } }')
		await marked('query', ['$', 'n', 'true'])
		assert.equal(await see(() => document.querySelector('#tab-variables').classList.contains('bad')), true, 'the variables lack $id')
		await write('{ orders { totalCount } }')
		await marked('query', [])
	},

	async 'the caret stays in sight'() {
		await write(`{\n${Array.from({ length: 80 }, (_, n) => `  a${n}: orders(first: 1, filter: {note: {eq: "${'far '.repeat(40)}"}}) { totalCount }`).join('\n')}\n}`)
		const scrolled = () => see(() => { const e = document.querySelector('#query .editor'); return { top: e.scrollTop, left: e.scrollLeft } })
		await keys('Control-Home')
		assert.deepEqual(await scrolled(), { top: 0, left: 0 })
		await keys('Control-End')
		await until(() => document.querySelector('#query .editor').scrollTop > 500, 'the end is in sight')
		await keys('ArrowUp', 'End')
		await type(' ')
		await until(() => document.querySelector('#query .editor').scrollLeft > 300, 'the end of the line is in sight')
		await keys('Home', 'PageUp', 'PageUp', 'PageUp')
		await until(() => document.querySelector('#query .editor').scrollTop < 900, 'PageUp scrolls')
		await keys('Control-Home')
		await until(() => document.querySelector('#query .editor').scrollTop === 0, 'the beginning is in sight')
	},

	async 'what the server objects to is marked too'() {
		await write('{ orders(first: -1) { totalCount } }')
		const answer = await run()
		assert.ok(answer.errors?.length > 0, 'a negative number is refused')
		assert.equal(await page.$$eval('#errors li', all => all.length), answer.errors.length)
		await status('error')
		if (answer.errors[0].locations) assert.equal((await marks('query')).length, 1)
		await picture('refused')
		await type(' ')
		await marked('query', [])
	},

	async 'variables have an editor that knows them'() {
		await write('query Some($first: Int!, $status: OrderStatus) { orders(first: $first, filter: {status: {eq: $status}}) { nodes { id status } } }')
		await go('V')
		await at('Variables, as JSON')
		await status('$first needs a value')
		await keys('Control-a', 'Delete')
		await type('{"fi')
		await keys('Enter')
		await type('2,"stat')
		await keys('Enter', 'Control-Space')
		await until(() => document.querySelector('#choices [aria-selected=true]'), 'values')
		await type('"plac')
		await keys('Enter', 'Escape')
		assert.deepEqual(JSON.parse(await text(editor('variables'))), { first: 2, status: 'placed' })
		const answer = await run()
		assert.ok(answer.data.orders.nodes.length <= 2 && answer.data.orders.nodes.every(o => o.status === 'placed'), JSON.stringify(answer))
		assert.equal(JSON.parse(sent.at(-1).body).operationName, 'Some')
		await picture('variables')
		await keys('Control-a', 'Delete')
		await type('{"first": "two"}')
		await marked('variables', ['"two"'])
		await status('This should be an Int!'.slice(0, 17))
		await keys('Control-a', 'Delete')
		await type('{"first": 1, ')
		await keys('Control-Enter')
		await status('Expected a name between quotation marks')
	},

	async 'numbers beyond 2^53 go out as they are written'() {
		await write('query Q($n: Int64) { __typename @include(if: true) }')
		await go('V')
		await keys('Control-a', 'Delete')
		await type('{"n": 9007199254740993}')
		await keys('Control-Enter')
		await answered()
		assert.match(sent.at(-1).body, /"variables":\{"n": 9007199254740993\}/)
		await keys('Control-a', 'Delete')
	},

	async 'headers go with the request and stay in this tab'() {
		await write('{ __typename }')
		await go('H')
		await at('Headers, as JSON')
		await type('{"X-Secret": "walk-secret"}')
		await run()
		assert.equal(sent.at(-1).headers['x-secret'], 'walk-secret')
		assert.equal(await see(() => JSON.stringify(localStorage).includes('walk-secret')), false)
		await type('{')
		await keys('Control-Enter')
		await status('Expected')
		await keys('Control-a', 'Delete')
	},

	async 'of several operations the one under the caret runs'() {
		await write('query A { orders { totalCount } }\nquery B { users { totalCount } }')
		assert.deepEqual(await page.$$eval('#operation option', all => all.map(x => x.value)), ['A', 'B'])
		await keys('Control-Home')
		assert.ok((await run()).data.orders)
		await keys('Control-End')
		assert.ok((await run()).data.users)
		assert.equal(await text('#operation'), 'B')
	},

	async 'the docs: what the caret is on, search, back'() {
		await write('{ orders { nodes { status } } }')
		for (let n = 0; n < 7; n++) await keys('ArrowLeft')
		await status('Order.status: OrderStatus')
		await go('D')
		assert.equal(await text('#docs-title'), 'Order.status')
		await at('docs-title')
		await go('S')
		await type('pageinfo')
		await until(() => document.querySelector('#found [aria-selected=true]')?.textContent === 'PageInfo', 'PageInfo is found')
		assert.equal(await see(() => document.activeElement.getAttribute('aria-expanded')), 'true')
		await picture('search')
		await keys('Enter')
		assert.equal(await text('#docs-title'), 'PageInfo')
		await keys('Tab')
		for (let n = 0; n < 20 && await focused() !== 'hasNextPage'; n++) await keys('Tab')
		await keys('Enter')
		assert.equal(await text('#docs-title'), 'PageInfo.hasNextPage')
		await keys('Shift-Tab')
		await at('docs-back')
		await keys('Enter')
		assert.equal(await text('#docs-title'), 'PageInfo')
		await keys('Shift-Tab', 'Enter', 'Shift-Tab', 'Enter')
		assert.equal(await text('#docs-title'), 'Schema')
		await picture('docs')
		assert.equal(await see(() => document.querySelector('#docs-body a').href), url + '/schema.graphql')
	},

	async 'a field is written from the docs'() {
		await go('S')
		await type('createorder')
		await until(() => document.querySelector('#found [aria-selected=true]'), 'it is found')
		for (let n = 0; n < 9 && await see(() => document.querySelector('#found [aria-selected=true]').textContent !== 'Mutation.createOrder'); n++) await keys('ArrowDown')
		await keys('Enter')
		for (let n = 0; n < 20 && await focused() !== 'Write this mutation'; n++) await keys('Tab')
		await keys('Enter')
		assert.match(await text(editor('query')), /^mutation CreateOrder\(\$input: CreateOrderInput!\) \{\n {2}createOrder\(input: \$input\) \{\n/)
		assert.ok(JSON.parse(await text(editor('variables'))).input)
		assert.deepEqual([...await marks('query'), ...await marks('variables')], [])
		await go('V')
		await keys('Control-a', 'Delete')
	},

	async 'prettified, and undone'() {
		const ugly = 'query Q($n:Int=2){orders(first:$n){nodes{id,status # how far\n}}}'
		await write(ugly)
		await go('F')
		await content('query', 'query Q($n: Int = 2) {\n  orders(first: $n) {\n    nodes {\n      id\n      status # how far\n    }\n  }\n}\n')
		await at('GraphQL document')
		await keys('Control-z')
		await content('query', ugly)
		await keys('Control-a', 'Control-/')
		assert.match(await text(editor('query')), /^# query Q/)
		await keys('Control-z')
	},

	async 'moves of the caret within a definition are announced once'() {
		await write('{ users { totalCount } }')
		await keys('Home', 'ArrowRight', 'ArrowRight', 'ArrowRight')
		await status('Query.users')
		await see(() => {
			const line = document.querySelector('#status')
			window.announced = []
			new MutationObserver(() => window.announced.push(line.textContent)).observe(line, { childList: true })
		})
		await keys(...Array(9).fill('ArrowRight'))
		await status('totalCount')
		assert.deepEqual(await see(() => window.announced.filter(x => x.startsWith('Query.users'))), [])
	},

	async 'history survives a reload, and can be cleared'() {
		await write('{ users { totalCount } }')
		await run()
		await write('{ orders { totalCount } }')
		await run()
		await page.reload()
		await until(() => document.querySelector('#docs-body .field'), 'the docs')
		await content('query', '{ orders { totalCount } }')
		await go('Y')
		const kept = await page.$$eval('#history-list b', all => all.map(x => x.textContent))
		assert.equal(kept[0], '{ orders { totalCount } }')
		assert.equal(kept[1], '{ users { totalCount } }')
		await picture('history')
		await keys('Tab', 'Enter')
		await content('query', '{ users { totalCount } }')
		await at('GraphQL document')
		await go('Y')
		for (let n = 0; n < 60 && await focused() !== 'history-clear'; n++) await keys('Tab')
		await keys('Enter')
		assert.equal(await page.$$eval('#history-list button', all => all.length), 0)
		await at('tab-history')
	},

	async 'a link holds the document and the variables, and runs nothing'() {
		await session.overridePermissions(origin, [])
		await write('{ __typename }')
		await go('L')
		await until(() => document.querySelector('#copy').open, 'where nothing may be copied the link is shown')
		assert.equal(await text('#copy-text'), url + '#query=%7B+__typename+%7D')
		await at('copy-text')
		await keys('Escape')
		await until(() => !document.querySelector('#copy').open && document.activeElement.id !== 'copy-text', 'the dialog is closed')
		await session.overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write'])
		await write('query Linked($first: Int) { orders(first: $first) { totalCount } }')
		await go('V')
		await type('{"first": 3}')
		await go('H')
		await type('{"X-Secret": "walk-secret"}')
		await go('L')
		await status('Link copied')
		const link = await see(() => navigator.clipboard.readText())
		assert.ok(link.startsWith(url + '#') && !link.includes('secret'), link)
		await go('C')
		await status('Command copied')
		const curl = await see(() => navigator.clipboard.readText())
		assert.match(curl, /^curl 'http.*X-Secret: walk-secret.*--data-raw '\{"query":"query Linked/s)
		await page.close()
		await visit(link)
		await content('query', 'query Linked($first: Int) { orders(first: $first) { totalCount } }')
		await content('variables', '{"first": 3}')
		await content('headers', '')
		assert.equal(sent.length, 0, 'a link runs nothing')
		assert.equal(await see(() => location.hash), '')
		assert.ok((await run()).data.orders)
	},

	async 'a link leaves the draft in the history, and curl reads a subscription as events'() {
		await session.overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write'])
		const draft = 'subscription Draft { orderChanged(after: "0") { kind } }'
		await write(draft)
		await go('C')
		await status('Command copied')
		const curl = await see(() => navigator.clipboard.readText())
		assert.match(curl, /^curl -N 'http.* -H 'Accept: text\/event-stream' .*subscription Draft/s)
		await see(() => { location.hash = new URLSearchParams({ query: '{ users { totalCount } }' }) })
		await content('query', '{ users { totalCount } }')
		assert.equal(await page.$eval('#history-list b', e => e.textContent), draft)
		await page.close()
		await visit(`${url}#query=${encodeURIComponent('{ orders { totalCount } }')}`)
		await content('query', '{ orders { totalCount } }')
		assert.equal(await page.$eval('#history-list b', e => e.textContent), '{ users { totalCount } }', 'of a new page')
	},

	async 'the address of a request by GET shows the request'() {
		await page.close()
		await visit(`${origin}/v1/graphql?${new URLSearchParams({ query: 'query Got { orders { totalCount } }', operationName: 'Got' })}`)
		await content('query', 'query Got { orders { totalCount } }')
		assert.equal(sent.length, 0)
		assert.ok((await run()).data.orders)
		assert.equal(await see(() => location.href), origin + '/v1/graphql')
		assert.ok(asked.at(-1).endsWith('/v1/graphql'), 'the contract is that of the page')
		assert.equal(await see(() => document.querySelector('#docs-body a').href), origin + '/v1/graphql/schema.graphql')
		await page.close()
		await visit()
	},

	async 'Tab reaches each control and leaves it'() {
		await go('Q')
		const before = await text(editor('query'))
		await keys('Tab')
		assert.notEqual(await text(editor('query')), before, 'Tab indents')
		await keys('Control-z')
		const order = []
		for (let n = 0; n < 200; n++) {
			await keys('Escape', 'Tab')
			const at = await see(() => {
				const e = document.activeElement, s = getComputedStyle(e)
				const ring = s.outlineStyle !== 'none' || (e.closest('.editor') && getComputedStyle(e.closest('.editor').firstChild).boxShadow !== 'none')
				return { name: e.id || e.getAttribute('aria-label') || e.textContent.slice(0, 30), body: e === document.body, ring }
			})
			if (at.body) continue // the browser's own, between the end and the beginning
			assert.ok(at.ring, `the focus on ${at.name} cannot be seen`)
			if (order.includes(at.name) && at.name === order[0]) break
			order.push(at.name)
		}
		for (const name of ['run', 'Prettify', 'Link', 'curl', 'theme', 'GraphQL document', 'split-inputs', 'tab-variables', 'Variables, as JSON', 'split-answer', 'copy-answer', 'answer-text', 'tab-docs', 'search']) {
			assert.ok(order.includes(name), `Tab does not reach ${name}: ${order}`)
		}
		await go('Q')
		await keys('Escape', 'Shift-Tab', 'Shift-Tab')
		assert.notEqual(await focused(), 'GraphQL document', 'Shift-Tab leaves as well')
	},

	async 'separators and tabs move by arrows'() {
		await see(() => document.querySelector('#split-answer').focus())
		const width = () => see(() => document.querySelector('#ask').getBoundingClientRect().width)
		const before = await width()
		await keys('ArrowRight', 'ArrowRight')
		assert.ok(await width() > before + 20)
		await keys('ArrowLeft', 'ArrowLeft')
		await see(() => document.querySelector('#tab-variables').focus())
		await keys('ArrowRight')
		await at('tab-headers')
		assert.equal(await see(() => document.querySelector('#headers').checkVisibility() && !document.querySelector('#variables').checkVisibility()), true)
		await keys('Home')
		await at('tab-variables')
	},

	async 'the keys are shown, and Esc closes them'() {
		await go('K')
		await until(() => document.querySelector('#keys').open && document.activeElement.closest('#keys'), 'the dialog is open')
		await picture('keys')
		await keys('Escape')
		await until(() => !document.querySelector('#keys').open && !document.activeElement.closest('#keys'), 'the dialog is closed')
	},

	async 'each control has a name'() {
		await go('Q')
		await keys('Control-a', 'Delete', 'Control-Space')
		const counts = {}
		assert.deepEqual(await nameless(counts), [])
		for (const role of ['button', 'textbox', 'combobox', 'tab', 'listbox', 'option', 'tabpanel']) assert.ok(counts[role] > 0, `no ${role} in ${JSON.stringify(counts)}`)
		assert.equal(await see(() => document.querySelector('#status').getAttribute('role')), 'status')
		const ids = await see(() => [...document.querySelectorAll('[aria-controls], [aria-labelledby], [aria-describedby]')].flatMap(e =>
			['aria-controls', 'aria-labelledby', 'aria-describedby'].map(a => e.getAttribute(a)).filter(id => id && !document.getElementById(id))))
		assert.deepEqual(ids, [], 'ids that are not there')
		await keys('Escape')
	},

	async 'text has enough contrast, in both colours'() {
		for (const scheme of ['light', 'dark']) {
			await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
			await write('query Q($n: Int = 2) { a: orders(first: $n, filter: {status: {eq: paid}}) { nodes { id @skip(if: true) note ...F } } } # said\nfragment F on Order { id }')
			const faint = await see(() => {
				// Colours come out of the canvas as they are seen.
				const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
				const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data] }
				const light = c => { const [r, g, b] = rgb(c).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
				const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] === 255) return c } return 'white' }
				const low = []
				for (const e of document.querySelectorAll('body *')) {
					if (!e.checkVisibility() || e.tagName === 'TEXTAREA' || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue
					const a = light(getComputedStyle(e).color), b = light(ground(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
					if (ratio < 4.5) low.push(`${e.tagName}.${e.className} ${e.textContent.slice(0, 20)}: ${ratio.toFixed(2)}`)
				}
				return low
			})
			assert.deepEqual(faint, [], scheme)
		}
	},

	async 'dark, light, and as the system'() {
		const ground = () => see(() => getComputedStyle(document.body).backgroundColor)
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
		const dark = await ground()
		await picture('dark')
		await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
		const light = await ground()
		assert.notEqual(dark, light)
		await go('T')
		assert.equal(await ground(), light)
		await go('T')
		assert.equal(await ground(), dark, 'dark although the system is light')
		await page.reload()
		assert.equal(await ground(), dark, 'still after a reload')
		await until(() => document.querySelector('#docs-body .field'), 'the docs')
		await go('T')
		assert.equal(await ground(), light)
		await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }])
		assert.ok(await see(() => [...document.querySelectorAll('*')].every(e => /^(0s|all)?(, 0s)*$/.test(getComputedStyle(e).transitionDuration))), 'nothing moves')
		await page.emulateMediaFeatures([])
	},

	async 'a narrow window'() {
		await page.close()
		await visit(url, { width: 360, height: 740 })
		await write('{ orders(first: 2) { nodes { id status note } } }')
		const wide = () => see(() => document.documentElement.scrollWidth)
		const shown = () => see(() => ['ask', 'answer', 'side'].filter(id => document.getElementById(id).checkVisibility()).join())
		assert.equal(await shown(), 'ask')
		await picture('narrow-document')
		assert.ok(await wide() <= 360, 'nothing sticks out')
		await run()
		assert.equal(await shown(), 'answer', 'a response is shown')
		await picture('narrow-answer')
		assert.ok(await wide() <= 360)
		await go('S')
		assert.equal(await shown(), 'side')
		await picture('narrow-docs')
		assert.ok(await wide() <= 360)
		await see(() => document.querySelector('#pane-side').focus())
		await keys('Home')
		assert.equal(await shown(), 'ask')
		await at('pane-ask')
		await page.close()
	},

	async 'what takes long can be cancelled'() {
		await visit(url, { answer: body => body.includes('totalCount') && 'hold' })
		await write('{ orders { totalCount } }')
		await keys('Control-Enter')
		await until(() => document.querySelector('#run').textContent === 'Cancel', 'it can be cancelled')
		assert.equal(await see(() => document.querySelector('#answer').getAttribute('aria-busy')), 'true')
		await keys('Control-Enter')
		await status('Cancelled.')
		assert.equal(await text('#run'), 'Run')
		await page.close()
	},

	async 'a subscription shows what happens, newest first, until it is stopped'() {
		await visit()
		await write(`subscription { orderChanged(after: "${await place()}") { kind cursor order { id status } } }`)
		await marked('query', [])
		await keys('Control-Enter')
		await until(() => document.querySelector('#run').textContent === 'Stop', 'it can be stopped')
		const order = await placed()
		for (const status of ['paid', 'shipped']) await change(order, status)
		await entries(3)
		assert.deepEqual((await shown()).map(([, change]) => [change.kind, change.order.id, change.order.status]),
			[['UPDATED', order, 'shipped'], ['UPDATED', order, 'paid'], ['CREATED', order, 'placed']])
		assert.match(await text('#about'), /^live \d+ results over WebSocket$/)
		await picture('live')
		await keys('Control-Enter')
		await status('Stopped.')
		assert.equal(await text('#run'), 'Run')
		assert.match(await text('#about'), /^stopped \d+ results/)
		await change(order, 'cancelled')
		await write('{ __typename }')
		assert.ok((await run()).data)
		await page.close()
	},

	async 'where there is no WebSocket, and where header fields go along, results come as events'() {
		for (const without of [true, false]) {
			await visit()
			if (without) await see(url => { window.WebSocket = class extends WebSocket { constructor(_, p) { super(url.replace(/^http/, 'ws') + '/nothing', p) } } }, url)
			else {
				await go('H')
				await keys('Control-a')
				await type('{"X-Page": "1')
			}
			await write(`subscription { orderChanged(after: "${await place()}") { kind } }`)
			await keys('Control-Enter')
			await placed()
			await entries(1)
			assert.match(await text('#about'), /^live 1 result over events$/)
			assert.match(await text('#answer-text'), /CREATED/)
			if (!without) assert.equal(sent.at(-1).headers['x-page'], '1')
			await keys('Control-Enter')
			await status('Stopped.')
			if (without) objections.splice(0, objections.length, ...objections.filter(o => !/WebSocket connection to/.test(o)))
			else {
				await go('H')
				await keys('Control-a', 'Delete')
			}
			await page.close()
		}
	},

	async 'a subscription that is refused'() {
		await visit()
		await write('subscription { orderChanged(after: "yesterday") { kind } }')
		await keys('Control-Enter')
		await until(() => document.querySelector('#run').textContent === 'Run' && document.querySelector('#errors').textContent.includes('BAD_USER_INPUT'), 'it is refused')
		assert.match(await text('#about'), /^complete/)
		await page.close()
	},

	async 'without introspection it reports that and still runs'() {
		await visit(url, { answer: body => body.includes('IntrospectionQuery') && { status: 400, body: { errors: [{ message: 'Introspection is switched off.' }] } } })
		await until(() => document.querySelector('#docs-body').textContent.includes('Introspection is switched off.'), 'it reports that')
		await picture('no-schema')
		await write('{ orders { totalCount nonsense } }')
		await marked('query', [])
		await write('{ orders { totalCount } }')
		assert.ok((await run()).data.orders)
		await write('{ orders { totalCount ')
		await status('Expected')
		await page.close()
	},

	async 'a server that is not there, or answers with something else'() {
		let said
		await visit(url, { answer: () => said })
		for (const body of ['', '<html><script>window.broken = 1</script>', '[1, 2', '"text"', '[]', 'null', '{"errors": 1}', '{"errors": [null, 1, {"message": {}, "locations": [{"line": -1}, null], "path": 5}]}']) {
			said = { body, type: 'text/html', status: body ? 200 : 400 }
			await write('{ orders { totalCount } }')
			await keys('Control-Enter')
			await until(b => document.querySelector('#run').textContent === 'Run' && document.querySelector('#status').textContent.startsWith('Answer: '), `an answer to ${body}`)
			assert.equal(await see(() => window.broken), undefined)
			said = undefined
		}
		await page.close()
	},

	async 'documents and answers that are too much'() {
		const large = JSON.stringify({ data: { all: Array.from({ length: 20_000 }, (_, n) => ({ id: n, name: `item ${n}`, tags: ['a', null, true] })) } })
		await visit(url, { answer: body => body.includes('LARGE') && { body: large } })
		await write('query LARGE { __typename }')
		const answer = await run()
		assert.equal(answer.data.all.length, 20_000)
		for (const text of ['{a'.repeat(20_000), '{orders(filter:' + '['.repeat(60_000), '{orders(filter:' + '{and:'.repeat(15_000), '{' + 'nothing '.repeat(10_000) + '}', '"'.repeat(90_001),
			'query(' + '$a:[Int] '.repeat(9_000) + '){id}', Array.from({ length: 3_000 }, (_, n) => `fragment F${n} on Query{...F${n + 1}}`).join(' '), '#'.repeat(2_000_000)]) {
			await see(t => {
				const area = document.querySelector('#query textarea')
				area.value = t
				area.dispatchEvent(new InputEvent('input'))
			}, text)
			await go('F')
		}
		await write('{ orders { totalCount } }')
		assert.ok((await run()).data.orders, 'it still works')
		await page.close()
	},

	async 'text from others is text'() {
		const attack = `</script></style></textarea></pre><script>window.hit = 1</script><img src=x onerror="window.hit=1"><svg onload="window.hit=1">\`javascript:window.hit=1\``
		const poisoned = value => typeof value === 'string' ? value : Array.isArray(value) ? value.map(poisoned)
			: value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k === 'description' || k === 'deprecationReason' || k === 'specifiedByURL' ? attack : poisoned(v)])) : value
		const schema = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query: introspection }) }).then(r => r.json())
		const hostile = poisoned(schema)
		const name = '<img src=x onerror=window.hit=1>'
		hostile.data.__schema.types.push({ ...hostile.data.__schema.types[0], name })
		const query = hostile.data.__schema.types.find(t => t.name === hostile.data.__schema.queryType.name)
		for (const f of query.fields) f.isDeprecated = true
		query.fields.push({ ...query.fields[0], name, args: [], isDeprecated: false, type: { kind: 'OBJECT', name, ofType: null } })
		const answer = { data: { [attack]: attack }, errors: [{ message: attack, path: [attack, 1], locations: [{ line: 1, column: 1 }], extensions: { code: attack } }] }
		await visit(url, { answer: body => body.includes('IntrospectionQuery') ? { body: hostile } : { body: answer } })
		await until(() => document.querySelector('#docs-body').textContent.includes('<script>window.hit'), 'the attack is shown as text')
		await picture('hostile')
		await write(`{ ${query.fields[0].name} }\n# ${attack}`)
		await keys('Control-Home', 'ArrowRight', 'ArrowRight', 'ArrowRight')
		await go('D')
		await go('Q')
		await keys('Control-Space')
		await until(() => document.querySelector('#choices').children.length > 0, 'completions')
		await keys('ArrowDown', 'ArrowUp', 'Escape', 'Control-Enter')
		await until(() => document.querySelector('#errors li'), 'the errors')
		await go('S')
		await type('img')
		await until(() => document.querySelector('#found li'), 'the hostile type is found')
		await keys('Enter')
		await go('Y')
		await see(() => localStorage.setItem(`stoa.graphql ${location.pathname} history`, JSON.stringify([{ query: '<img src=x onerror=window.hit=1>', variables: 5, name: {}, at: 'x' }, 7, null])))
		await page.goto('about:blank')
		await page.goto(`${url}#${new URLSearchParams({ query: attack, variables: attack, operationName: attack })}`)
		await until(() => document.querySelector('#query textarea').value.includes('window.hit'), 'the link is read')
		await until(() => document.querySelector('#docs-body .field'), 'the docs')
		assert.equal(await see(() => window.hit), undefined, 'a script of others ran')
		assert.equal(await page.$$eval('script', all => all.length), 1)
		assert.equal(await page.$$eval('img, svg[onload]', all => all.length), 0)
		await page.close()
	},

	async 'the browser keeps to the policy'() {
		await visit()
		const tried = await see(async other => {
			const refused = []
			const s = document.createElement('script')
			document.addEventListener('securitypolicyviolation', e => refused.push(e.effectiveDirective))
			try { s.textContent = 'window.hit = 1' } catch { refused.push('trusted types') }
			document.body.append(s)
			try { document.body.innerHTML = '<p>x' } catch { refused.push('innerHTML') }
			await fetch(other).catch(() => refused.push('fetch'))
			return { refused, hit: window.hit }
		}, 'http://127.0.0.1:9/')
		assert.equal(tried.hit, undefined)
		for (const what of ['trusted types', 'innerHTML', 'fetch']) assert.ok(tried.refused.includes(what), `${what} is not refused: ${tried.refused}`)
		objections.length = 0 // these were asked for
		asked.splice(asked.indexOf('http://127.0.0.1:9/') >>> 0, 1)
		await page.close()
	},
}

const introspection = `{ __schema { description queryType { name } mutationType { name } subscriptionType { name } types { kind name description specifiedByURL isOneOf
	fields(includeDeprecated: true) { name description args { ...I } type { ...R } isDeprecated deprecationReason } inputFields { ...I }
	enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } interfaces { name } possibleTypes { name } }
	directives { name description locations isRepeatable args { ...I } } } }
	fragment I on __InputValue { name description type { ...R } defaultValue isDeprecated deprecationReason }
	fragment R on __Type { name kind ofType { name kind ofType { name kind ofType { name kind ofType { name kind } } } } }`

let part
try {
	for (part of Object.keys(parts)) {
		const began = Date.now()
		await parts[part]()
		assert.deepEqual(objections, [], 'the browser objects')
		assert.deepEqual(strangers(), [], 'another host was asked')
		console.log(`ok    ${String(Math.round((Date.now() - began) / 100) / 10).padStart(4)}s  page: ${part}`)
	}
	console.log(`${Object.keys(parts).length} parts, ${asked.length} requests, none to another host`)
} catch (e) {
	console.log(`FAIL  page: ${part}\n${e.stack}\nobjections: ${objections}\nstatus line: ${await text('#status').catch(() => '')}\ndocument: ${await text(editor('query')).catch(() => '')}`)
	if (pictures) await page.screenshot({ path: join(pictures, 'page-failed.png') }).catch(() => {})
	process.exitCode = 1
} finally {
	await close()
}
