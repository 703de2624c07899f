// The page: the editors, the schema, running a request, history, links and keys.
const editors = {}
let schema = null, running = null, chosen = ''

const variablesOf = () => {
	const op = current()
	if (!op) return undefined
	return new Map([...op.variables.values()].map(v => [v.name, { ...v, needed: v.type?.endsWith('!') && !v.fallback, type: v.type ?? '' }]))
}
const operations = () => editors.query?.analysis.operations ?? []
const current = () => operations().find(o => o.name === chosen) ?? operations()[0]

editors.query = new Editor($('query'), {
	label: 'GraphQL document', hint: '# Ctrl-Space shows what can be asked, Ctrl-Enter asks it.',
	read: (text, caret) => analyse(text, schema, caret),
	complete: (analysis, text, caret) => complete(analysis.here, text, caret, schema, analysis),
	changed: edited, moved: looked,
})
for (const [id, label, inputs, hint] of [
	['variables', 'Variables, as JSON', () => schema && variablesOf(), 'JSON, such as { "first": 5 }'],
	['headers', 'Headers, as JSON', () => undefined, 'JSON, such as { "Authorization": "Bearer …" }; kept in this tab only'],
]) {
	editors[id] = new Editor($(id), {
		label, hint, read: (text, caret) => analyseJSON(text, schema, caret, inputs()),
		complete: (analysis, text, caret) => complete(analysis.here, text, caret, schema, { operations: [] }),
		changed: edited, moved: problems,
	})
}

let saving
function edited() {
	clearTimeout(saving)
	saving = setTimeout(save, 300)
	looked(reportLater)
}
function save() {
	kept.set('draft', { query: editors.query.text, variables: editors.variables.text })
	kept.set('headers', editors.headers.text, 'sessionStorage')
}
addEventListener('pagehide', save)

// looked follows the caret: it selects the operation around the caret to run, and calls schedule with problems.
function looked(schedule = f => f()) {
	const all = operations(), at = all.find(o => o.s <= editors.query.caret && editors.query.caret <= o.e)
	if (at) chosen = at.name
	$('operation').replaceChildren(...all.map(o => make('option', { value: o.name, selected: o === current() }, o.name || `(${o.kind})`)))
	$('operation').parentElement.hidden = all.length < 2
	editors.variables.update()
	for (const k of ['variables', 'headers']) $('tab-' + k).classList.toggle('bad', editors[k].marks.some(m => !m.mild))
	schedule(problems)
}

// problems reports in the status line the problem at the caret, or else the number of problems, or else the definition at the caret.
function problems() {
	const id = Object.keys(editors).find(k => editors[k].area === document.activeElement) ?? 'query', editor = editors[id], { caret } = editor
	const marks = editor.marks, here = marks.find(m => m.s <= caret && caret <= m.e)
	const elsewhere = Object.keys(editors).filter(k => k !== id && editors[k].marks.some(m => !m.mild))
	const serious = marks.filter(m => !m.mild), { thing } = editor.analysis
	if (here) report(editor.problem(here))
	else if (serious.length) report(`${serious.length > 1 ? `${serious.length} problems. ` : ''}${editor.problem(serious[0])}`)
	else if (elsewhere.length) report(`${elsewhere[0][0].toUpperCase() + elsewhere[0].slice(1)}: ${editors[elsewhere[0]].problem(editors[elsewhere[0]].marks.find(m => !m.mild))}`)
	else report(thing ? describe(thing) : '')
}
function describe({ field, input, value, directive, type }) {
	const x = input ?? value ?? field ?? directive ?? schema?.types.get(type)
	if (!x) return ''
	const of = input || value || !field?.parent ? '' : field.parent + '.'
	return `${directive === x ? '@' : of}${x.name}${typeof x.type === 'string' ? ': ' + x.type : ''}${x.description ? ' — ' + docs.one(x.description) : ''}`
}

// The schema.
async function loadSchema() {
	docs.missing = undefined
	try {
		const answer = await send(JSON.stringify({ query: INTROSPECTION, operationName: 'IntrospectionQuery' }), headers() ?? {}), body = parsed(answer.text)
		if (body?.data?.__schema) schema = makeSchema(body.data)
		else {
			const message = String(body?.errors?.[0]?.message ?? `it answered ${answer.status}`).replace(/\.$/, '')
			schema = null
			docs.missing = `The server does not return its schema: ${message}. Queries run, but nothing is completed or checked.`
		}
	} catch (e) {
		schema = null
		docs.missing = `The server cannot be reached: ${e.message}`
	}
	docs.reset(schema)
	if (schema && !editors.query.text.trim()) start()
	for (const e of Object.values(editors)) e.update()
	looked()
	if (docs.missing) report(docs.missing)
	$('schema-state').textContent = schema ? '' : 'no schema'
}
// start fills the editor with a query of the first field that has no required arguments.
function start() {
	const all = [...schema.roots.query?.fields.values() ?? []].filter(f => ![...f.args.values()].some(required))
	const first = all.find(f => schema.type(f.type)?.fields?.has('nodes')) ?? all.find(f => schema.type(f.type)?.fields) ?? all[0]
	if (first) fill({ query: sample(schema, 'query', first).query })
}
// tryField replaces the document by an operation for a field of a root. The previous document is kept in the history.
function tryField(kind, field) {
	const made = sample(schema, kind, field), { text } = editors.query
	showPane('pane-ask')
	fill({ query: made.query, variables: made.variables || editors.variables.text })
	remember({ query: text, variables: editors.variables.text })
	const at = made.query.search(/\{\n\s*\S+[^\n]*\{\n\s*/)
	editors.query.go(at < 0 ? 0 : made.query.indexOf('\n', made.query.indexOf('{\n') + 2) + 5)
}
// fill sets the editors to a request, as an edit that can be undone.
function fill({ query, variables }) {
	const focus = document.activeElement
	if (variables != null) editors.variables.set(variables)
	editors.query.set(query)
	if (focus !== document.body) focus?.focus()
	looked()
}

// headers returns the header fields, or undefined if they are not a JSON object.
function headers() {
	const { text } = editors.headers
	if (!text.trim()) return {}
	const read = parsed(text)
	return read && typeof read === 'object' && !Array.isArray(read) ? Object.fromEntries(Object.entries(read).map(([k, v]) => [k, String(v)])) : undefined
}
// request returns the request to send. If the input is not valid it reports that and returns undefined. The text of the variables
// is sent as it is, so that numbers beyond 2^53 are not rounded.
function request() {
	const query = editors.query.text, variables = editors.variables.text.trim(), name = current()?.name
	if (!query.trim()) return report('There is nothing to run.')
	if (variables && parsed(variables) === undefined) return wrong('variables')
	if (!headers()) return wrong('headers')
	const body = `{"query":${JSON.stringify(query)}${variables && `,"variables":${variables}`}${name ? `,"operationName":${JSON.stringify(name)}` : ''}}`
	return { query, name, body }
}
function wrong(id) {
	showInputs('tab-' + id)
	editors[id].next()
}

async function run() {
	if (running) return running.abort()
	const made = request()
	if (!made) return
	const mine = running = new AbortController(), { query, name, body } = made, live = current()?.kind === 'subscription'
	remember({ query, variables: editors.variables.text, name })
	$('run').textContent = live ? 'Stop' : 'Cancel'
	if (live) showPane('pane-answer')
	else $('answer').setAttribute('aria-busy', 'true')
	report('Running …')
	try {
		if (live) await listen(body, query, mine.signal)
		else showAnswer(await send(body, headers(), mine.signal), query)
	} catch (e) {
		$('errors').replaceChildren()
		$('about').textContent = mine.signal.aborted ? 'cancelled' : 'no answer'
		$('answer-text').textContent = mine.signal.aborted ? '' : `No answer: ${e.message}`
		report(mine.signal.aborted ? 'Cancelled.' : `No answer: ${e.message}`)
	}
	running = null
	$('run').textContent = 'Run'
	$('answer').removeAttribute('aria-busy')
	showPane('pane-answer')
}

// The history: the last fifty requests, without headers.
function remember(entry) {
	if (!entry.query.trim()) return
	const same = x => x.query === entry.query && x.variables === entry.variables
	kept.set('history', [{ ...entry, at: Date.now() }, ...remembered().filter(x => !same(x))].slice(0, 50).filter(x => x.query.length < 2e4))
	drawHistory()
}
const remembered = () => (Array.isArray(kept.get('history')) ? kept.get('history') : []).filter(x => typeof x?.query === 'string')
function drawHistory() {
	const all = remembered()
	$('history-clear').hidden = !all.length
	$('history-list').replaceChildren(...all.map(x => make('li', {}, make('button', {
		type: 'button', class: 'past', onclick: () => { fill({ query: x.query, variables: String(x.variables ?? '') }); showPane('pane-ask'); editors.query.area.focus() },
	}, make('b', {}, x.query.replace(/#.*|\s+/g, ' ').trim().slice(0, 80)), make('small', {}, new Date(x.at).toLocaleString())))))
	if (!all.length) $('history-list').append(make('li', { class: 'faint' }, 'What you run is kept here, in this browser.'))
}

// link returns a link with the document and the variables in the fragment, which is not sent to a server. It has no headers.
function link() {
	const { query, variables } = editors
	const parts = new URLSearchParams({ query: query.text, ...variables.text.trim() && { variables: variables.text }, ...chosen && { operationName: chosen } })
	return bare(location.href) + '#' + parts
}
// fromLink reads such a link, or the URL of a GET request that was opened in the browser.
function fromLink() {
	const parts = [location.hash, location.search].map(x => new URLSearchParams(x.slice(1))).find(x => x.get('query'))
	if (!parts) return false
	history.replaceState(null, '', bare(location.href))
	fill({ query: parts.get('query'), variables: parts.get('variables') ?? '' })
	chosen = parts.get('operationName') ?? ''
	looked()
	report('This came with the link. It has not been run.')
	return true
}
async function copy(text, what) {
	try {
		await navigator.clipboard.writeText(text)
		report(`${what} copied.`)
	} catch {
		$('copy-text').value = text
		$('copy').showModal()
		$('copy-text').select()
	}
}

// The actions, each with its key: Alt-Shift and a letter, whichever element has the focus.
const showInputs = tabs($('inputs'), tab => editors[tab.id.slice(4)]?.update())
const showSide = tabs($('side-tabs'))
const showPane = tabs($('panes'))
const focusOn = (pane, show, focus) => () => {
	showPane(pane)
	show?.()
	focus().focus()
}
const actions = {
	Q: ['To the document', focusOn('pane-ask', null, () => editors.query.area)],
	V: ['To the variables', focusOn('pane-ask', () => showInputs('tab-variables'), () => editors.variables.area)],
	H: ['To the headers', focusOn('pane-ask', () => showInputs('tab-headers'), () => editors.headers.area)],
	A: ['To the answer', focusOn('pane-answer', null, () => $('answer-text'))],
	D: ['Docs of what the caret is on', lookUp],
	S: ['Search the docs', focusOn('pane-side', () => showSide('tab-docs'), () => $('search'))],
	Y: ['To the history', focusOn('pane-side', () => showSide('tab-history'), () => $('history-list').querySelector('button') ?? $('tab-history'))],
	F: ['Prettify', tidy],
	L: ['Copy a link to this', () => copy(link(), 'Link')],
	C: ['Copy as curl, headers included', () => { const made = request(); if (made) copy(curl(made.body, headers()), 'Command') }],
	R: ['Read the schema again', loadSchema],
	T: ['Dark, light, or as the system', theme],
	K: ['These keys', () => $('keys').showModal()],
}
function lookUp() {
	const { thing } = editors.query.analysis
	const what = thing?.field?.name ? { field: thing.field } : thing?.type ? { type: thing.type } : thing?.directive ? { directive: thing.directive } : thing?.input?.type ? { type: named(thing.input.type) } : null
	focusOn('pane-side', () => showSide('tab-docs'), () => $('docs-title'))()
	if (what && schema) docs.show(what)
}
function tidy() {
	const { query, variables } = editors
	if (query.analysis.problems.some(p => p.syntax)) return query.next()
	const pretty = prettyJSON(variables.text), focus = document.activeElement
	if (pretty) variables.set(pretty)
	if (query.text.trim()) query.set(prettify(query.text))
	focus?.focus()
	report('Prettified.')
}
function theme() {
	const order = ['', 'light', 'dark'], next = order[(order.indexOf(kept.get('theme') ?? '') + 1) % 3]
	kept.set('theme', next)
	dress()
	report(`Colours: ${next || 'as the system'}.`)
}
function dress() {
	const theme = kept.get('theme') || ''
	document.documentElement.style.colorScheme = theme || 'light dark'
	$('theme').textContent = { light: '☀', dark: '☾' }[theme] ?? '◐'
	$('theme').setAttribute('aria-label', `Colours: ${theme || 'as the system'}`)
}

$('run').addEventListener('click', run)
for (const button of document.querySelectorAll('[data-key]')) {
	button.title = `${actions[button.dataset.key][0]} (Alt-Shift-${button.dataset.key})`
	button.setAttribute('aria-keyshortcuts', `Alt+Shift+${button.dataset.key}`)
	button.addEventListener('click', actions[button.dataset.key][1])
}
$('operation').addEventListener('change', e => { chosen = e.target.value; editors.variables.update() })
$('docs-back').addEventListener('click', () => docs.back())
$('history-clear').addEventListener('click', () => { kept.set('history', []); drawHistory(); $('tab-history').focus() })
$('copy-answer').addEventListener('click', () => copy($('answer-text').textContent, 'Answer'))
$('keys-list').append(...Object.entries(actions).flatMap(([key, [what]]) => [make('dt', {}, make('kbd', {}, 'Alt-Shift-' + key)), make('dd', {}, what)]))
addEventListener('keydown', e => {
	const key = e.code.replace(/^Key/, '')
	if (document.querySelector('dialog[open]')) return
	if ((e.ctrlKey || e.metaKey) && e.key === 'Enter') run()
	else if (e.altKey && e.shiftKey && !e.ctrlKey && actions[key]) actions[key][1]()
	else return
	e.preventDefault()
})
addEventListener('hashchange', fromLink)
splitter($('split-inputs'), '--inputs', false)
splitter($('split-answer'), '--ask', true)
searching($('search'), $('found'))
dress()
drawHistory()
editors.headers.set(kept.get('headers', 'sessionStorage') ?? '')
if (!fromLink()) fill(kept.get('draft') ?? { query: '' })
editors.query.area.focus()
loadSchema()
