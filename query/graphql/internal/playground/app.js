// The page: the editors, the schema, running a request, history, links and keys.
import {
	$, copyText, make, report, reportLater, tablist,
} from '../../../../resource/httpbody/page/dom.js'
import { parsed, prettyJSON } from '../../../../resource/httpbody/page/jsontext.js'
import { complete } from './complete.js'
import { docs, searching } from './docs.js'
import { Editor } from './editor.js'
import { editors, headers } from './editors.js'
import { bare, curl, send } from './endpoint.js'
import { prettify } from './lex.js'
import { listen } from './live.js'
import { analyse } from './parse.js'
import { kept, splitter } from './parts.js'
import { showAnswer } from './run.js'
import { INTROSPECTION, makeSchema, named, required, sample } from './schema.js'
import { analyseJSON } from './variables.js'
/** @import { Field, Kind, Schema, Thing } from './types' */

/** @type {Schema | null} */
let schema = null
/** @type {AbortController | null} */
let running = null // the request that runs
let chosen = '' // the name of the operation to run
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saving

const operations = () => editors.query?.analysis.operations ?? []
const current = () => operations().find(o => o.name === chosen) ?? operations()[0]

// inputsOf returns the variables of the operation to run.
function inputsOf() {
	const op = current()
	if (!op) return undefined
	return new Map([...op.variables.values()].map(v =>
		[v.name, { name: v.name, needed: v.type?.endsWith('!') && !v.fallback, type: v.type ?? '' }]))
}

editors.query = new Editor($('query'), {
	label: 'GraphQL document', hint: '# Ctrl-Space shows what can be asked, Ctrl-Enter asks it.',
	read: (text, caret) => analyse(text, schema, caret),
	complete: (analysis, text, caret) => complete(analysis.here, text, caret, schema, analysis),
	changed: edited, moved: looked,
})
for (const [id, label, hint] of [
	['variables', 'Variables, as JSON', 'JSON, such as { "first": 5 }'],
	['headers', 'Headers, as JSON', 'JSON, such as { "Authorization": "Bearer …" }; kept in this tab only'],
]) {
	const inputs = () => id === 'variables' && schema ? inputsOf() : undefined
	editors[id] = new Editor($(id), {
		label, hint, read: (text, caret) => analyseJSON(text, schema, caret, inputs()),
		complete: (analysis, text, caret) => complete(analysis.here, text, caret, schema, analysis),
		changed: edited, moved: problems,
	})
}

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

// isWrong reports whether an editor has marks other than notes.
const isWrong = (/** @type {string} */ id) => editors[id].marks.some(m => !m.mild)

// looked follows the caret: it selects the operation around the caret to run, and calls schedule with
// problems.
function looked(schedule = (/** @type {() => void} */ f) => f()) {
	const all = operations(), { caret } = editors.query, at = all.find(o => o.s <= caret && caret <= o.e)
	if (at) chosen = at.name
	$('operation').replaceChildren(...all.map(o =>
		make('option', { value: o.name, selected: o === current() }, o.name || `(${o.kind})`)))
	const label = /** @type {HTMLElement} */ ($('operation').parentElement)
	label.hidden = all.length < 2
	editors.variables.update()
	for (const id of ['variables', 'headers']) $('tab-' + id).classList.toggle('bad', isWrong(id))
	schedule(problems)
}

// problems reports the state at the caret, unless the status line has it: that would announce it again.
function problems() {
	const text = stateAtCaret()
	if ($('status').textContent?.trimEnd() !== text) report(text)
}

// stateAtCaret returns the problem at the caret, or else the number of problems, or else the
// definition at the caret.
function stateAtCaret() {
	const ids = Object.keys(editors), focus = document.activeElement
	const id = ids.find(k => editors[k].area === focus) ?? 'query'
	const { caret, marks, analysis } = editors[id], here = marks.find(m => m.s <= caret && caret <= m.e)
	const serious = marks.filter(m => !m.mild), other = ids.find(k => k !== id && isWrong(k))
	if (here) return editors[id].problem(here)
	if (serious.length) {
		const count = serious.length > 1 ? `${serious.length} problems. ` : ''
		return count + editors[id].problem(serious[0])
	}
	if (!other) return analysis.thing ? describe(analysis.thing) : ''
	const [first] = editors[other].marks.filter(m => !m.mild)
	return `${other[0].toUpperCase() + other.slice(1)}: ${editors[other].problem(first)}`
}

// describe returns a text about a definition.
/** @param {Thing} thing */
function describe({ field, input, value, directive, type }) {
	const x = input ?? value ?? field ?? directive ?? schema?.types.get(type ?? '')
	if (!x) return ''
	const of = x === directive ? '@' : x === field && field.parent ? field.parent + '.' : ''
	const typed = 'type' in x ? `: ${x.type}` : ''
	return `${of}${x.name}${typed}${x.description ? ' — ' + docs.one(x.description) : ''}`
}

async function loadSchema() {
	docs.missing = undefined
	try {
		const request = JSON.stringify({ query: INTROSPECTION, operationName: 'IntrospectionQuery' })
		const answer = await send(request, headers() ?? {}), body = parsed(answer.text)
		if (body?.data?.__schema) schema = makeSchema(body.data)
		else {
			const message = String(body?.errors?.[0]?.message ?? `it answered ${answer.status}`)
			schema = null
			docs.missing = `The server does not return its schema: ${message.replace(/\.$/, '')}. ` +
				'Queries run, but nothing is completed or checked.'
		}
	} catch (e) {
		schema = null
		docs.missing = `The server cannot be reached: ${messageOf(e)}`
	}
	docs.reset(schema)
	if (schema && !editors.query.text.trim()) start(schema)
	for (const e of Object.values(editors)) e.update()
	looked()
	if (docs.missing) report(docs.missing)
	$('schema-state').textContent = schema ? '' : 'no schema'
}
const messageOf = (/** @type {unknown} */ e) => e instanceof Error ? e.message : String(e)

// start fills the editor with a query of the first field that has no required arguments.
/** @param {Schema} schema */
function start(schema) {
	const fields = [...schema.roots.query?.fields?.values() ?? []]
	const all = fields.filter(f => ![...f.args.values()].some(required))
	const fieldsOf = (/** @type {Field} */ f) => schema.type(f.type)?.fields
	const first = all.find(f => fieldsOf(f)?.has('nodes')) ?? all.find(fieldsOf) ?? all[0]
	if (first) fill({ query: sample(schema, 'query', first).query })
}
// tryField replaces the document by an operation for a field of a root. The previous document is kept
// in the history.
/**
 * @param {Kind} kind
 * @param {Field} field
 */
function tryField(kind, field) {
	if (!schema) return
	const made = sample(schema, kind, field), { text } = editors.query
	showPane($('pane-ask'))
	fill({ query: made.query, variables: made.variables || editors.variables.text })
	remember({ query: text, variables: editors.variables.text })
	const at = made.query.search(/\{\n\s*\S+[^\n]*\{\n\s*/)
	editors.query.go(at < 0 ? 0 : made.query.indexOf('\n', made.query.indexOf('{\n') + 2) + 5)
}
// fill sets the editors to a request, as an edit that can be undone.
/** @param {{ query: string, variables?: string | null }} request */
function fill({ query, variables }) {
	const focus = focused()
	if (variables != null) editors.variables.set(variables)
	editors.query.set(query)
	if (focus !== document.body) focus?.focus()
	looked()
}
const focused = () => /** @type {HTMLElement | null} */ (document.activeElement)

// request returns the request to send. If the input is not valid it reports that and returns
// undefined. The text of the variables is sent as it is, so that numbers beyond 2^53 are not rounded.
function request() {
	const query = editors.query.text, variables = editors.variables.text.trim(), name = current()?.name
	if (!query.trim()) return report('There is nothing to run.')
	if (variables && parsed(variables) === undefined) return wrong('variables')
	const fields = headers()
	if (!fields) return wrong('headers')
	const members = [`"query":${JSON.stringify(query)}`]
	if (variables) members.push(`"variables":${variables}`)
	if (name) members.push(`"operationName":${JSON.stringify(name)}`)
	return { query, name, fields, body: `{${members.join()}}` }
}
// wrong moves the focus to a problem of an editor.
/** @param {string} id */
function wrong(id) {
	showInputs($('tab-' + id))
	editors[id].next()
}

async function run() {
	if (running) return running.abort()
	const made = request()
	if (!made) return
	const mine = running = new AbortController(), { query, name, fields, body } = made
	const live = current()?.kind === 'subscription'
	remember({ query, variables: editors.variables.text, name })
	$('run').textContent = live ? 'Stop' : 'Cancel'
	if (live) showPane($('pane-answer'))
	else $('answer').setAttribute('aria-busy', 'true')
	report('Running …')
	try {
		if (live) await listen(body, query, mine.signal)
		else showAnswer(await send(body, fields, mine.signal), query)
	} catch (e) {
		$('errors').replaceChildren()
		$('about').textContent = mine.signal.aborted ? 'cancelled' : 'no answer'
		$('answer-text').textContent = mine.signal.aborted ? '' : `No answer: ${messageOf(e)}`
		report(mine.signal.aborted ? 'Cancelled.' : `No answer: ${messageOf(e)}`)
	}
	running = null
	$('run').textContent = 'Run'
	$('answer').removeAttribute('aria-busy')
	showPane($('pane-answer'))
}

// The history: the last fifty requests, without headers.
/** @param {{ query: string, variables: string, name?: string }} entry */
function remember(entry) {
	if (!entry.query.trim()) return
	const others = remembered().filter(x => x.query !== entry.query || x.variables !== entry.variables)
	const all = [{ ...entry, at: Date.now() }, ...others].slice(0, 50)
	kept.set('history', all.filter(x => x.query.length < 2e4))
	drawHistory()
}
function remembered() {
	const all = kept.get('history')
	return Array.isArray(all) ? all.filter(x => typeof x?.query === 'string') : []
}
function drawHistory() {
	const all = remembered()
	$('history-clear').hidden = !all.length
	$('history-list').replaceChildren(...all.map(x => {
		const again = () => {
			fill({ query: x.query, variables: String(x.variables ?? '') })
			showPane($('pane-ask'))
			editors.query.area.focus()
		}
		const title = x.query.replace(/#.*|\s+/g, ' ').trim().slice(0, 80)
		return make('li', {}, make('button', { type: 'button', class: 'past', onclick: again },
			make('b', {}, title), make('small', {}, new Date(x.at).toLocaleString())))
	}))
	if (all.length) return
	const empty = make('li', { class: 'faint' }, 'What you run is kept here, in this browser.')
	$('history-list').append(empty)
}

// linkTo returns a link with the document and the variables in the fragment, which is not sent to a
// server. It has no headers.
function linkTo() {
	const parts = new URLSearchParams({ query: editors.query.text })
	if (editors.variables.text.trim()) parts.set('variables', editors.variables.text)
	if (chosen) parts.set('operationName', chosen)
	return bare(location.href) + '#' + parts
}
// fromLink reads such a link, or the URL of a GET request that was opened in the browser.
function fromLink() {
	const all = [location.hash, location.search].map(x => new URLSearchParams(x.slice(1)))
	const parts = all.find(x => x.get('query'))
	if (!parts) return false
	history.replaceState(null, '', bare(location.href))
	const { query, variables } = editors, draft = kept.get('draft')
	const before = query.text ? { query: query.text, variables: variables.text } : draft
	// The history keeps the draft that the link replaces.
	if (typeof before?.query === 'string' && before.query !== parts.get('query')) remember(before)
	fill({ query: parts.get('query') ?? '', variables: parts.get('variables') ?? '' })
	chosen = parts.get('operationName') ?? ''
	looked()
	report('This came with the link. It has not been run.')
	return true
}
// copy copies a text to the clipboard. If the browser does not allow it, it shows the text.
/** @type {(text: string, what: string) => Promise<void>} */
async function copy(text, what) {
	if (await copyText(text)) return report(`${what} copied.`)
	const area = /** @type {HTMLTextAreaElement} */ ($('copy-text'))
	area.value = text
	dialog('copy')
	area.select()
}
const dialog = (/** @type {string} */ id) => /** @type {HTMLDialogElement} */ ($(id)).showModal()

// tabs makes a list of tabs show the panels that they control. It returns a function that selects one.
/** @type {(list: HTMLElement, chosen?: (tab: HTMLElement) => void) => (tab: HTMLElement) => void} */
function tabs(list, chosen) {
	const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=tab]')])
	const choose = tablist(list, tab => {
		for (const t of all) $(t.getAttribute('aria-controls') ?? '').dataset.shown = String(t === tab)
		chosen?.(tab)
	})
	choose(all[0])
	return choose
}

// The actions, each with its key: Alt-Shift and a letter, whichever element has the focus.
const showInputs = tabs($('inputs'), tab => editors[tab.id.slice(4)]?.update())
const showSide = tabs($('side-tabs'))
const showPane = tabs($('panes'))
/** @type {(pane: string, tab: HTMLElement | null, focus: () => HTMLElement) => () => void} */
const focusOn = (pane, tab, focus) => () => {
	showPane($(pane))
	if (tab) (tab.parentElement === $('inputs') ? showInputs : showSide)(tab)
	focus().focus()
}
/** @type {Record<string, [string, () => unknown]>} */
const actions = {
	Q: ['To the document', focusOn('pane-ask', null, () => editors.query.area)],
	V: ['To the variables', focusOn('pane-ask', $('tab-variables'), () => editors.variables.area)],
	H: ['To the headers', focusOn('pane-ask', $('tab-headers'), () => editors.headers.area)],
	A: ['To the answer', focusOn('pane-answer', null, () => $('answer-text'))],
	D: ['Docs of what the caret is on', lookUp],
	S: ['Search the docs', focusOn('pane-side', $('tab-docs'), () => $('search'))],
	Y: ['To the history', focusOn('pane-side', $('tab-history'),
		() => $('history-list').querySelector('button') ?? $('tab-history'))],
	F: ['Prettify', tidy],
	L: ['Copy a link to this', () => copy(linkTo(), 'Link')],
	C: ['Copy as curl, headers included', () => {
		const made = request(), live = current()?.kind === 'subscription'
		if (made) copy(curl(made.body, made.fields, live), 'Command')
	}],
	R: ['Read the schema again', loadSchema],
	T: ['Dark, light, or as the system', theme],
	K: ['These keys', () => dialog('keys')],
}
function lookUp() {
	const { thing } = editors.query.analysis
	focusOn('pane-side', $('tab-docs'), () => $('docs-title'))()
	if (!schema || !thing) return
	const { field, type, directive, input } = thing
	if (field?.name) docs.show({ field })
	else if (type) docs.show({ type })
	else if (directive) docs.show({ directive })
	else if (input?.type) docs.show({ type: named(input.type) })
}
function tidy() {
	const { query, variables } = editors
	if (query.analysis.problems.some(p => p.syntax)) return query.next()
	const pretty = prettyJSON(variables.text), focus = focused()
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
	$('theme').textContent = theme === 'light' ? '☀' : theme === 'dark' ? '☾' : '◐'
	$('theme').setAttribute('aria-label', `Colours: ${theme || 'as the system'}`)
}

$('run').addEventListener('click', run)
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-key]'))) {
	const key = button.dataset.key ?? '', [what, act] = actions[key]
	button.title = `${what} (Alt-Shift-${key})`
	button.setAttribute('aria-keyshortcuts', `Alt+Shift+${key}`)
	button.addEventListener('click', act)
}
$('operation').addEventListener('change', () => {
	chosen = /** @type {HTMLSelectElement} */ ($('operation')).value
	editors.variables.update()
})
docs.write = tryField
$('docs-back').addEventListener('click', () => docs.back())
$('history-clear').addEventListener('click', () => {
	kept.set('history', [])
	drawHistory()
	$('tab-history').focus()
})
$('copy-answer').addEventListener('click', () => copy($('answer-text').textContent ?? '', 'Answer'))
$('keys-list').append(...Object.entries(actions).flatMap(([key, [what]]) =>
	[make('dt', {}, make('kbd', {}, 'Alt-Shift-' + key)), make('dd', {}, what)]))
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
searching(/** @type {HTMLInputElement} */ ($('search')), $('found'))
dress()
drawHistory()
editors.headers.set(kept.get('headers', 'sessionStorage') ?? '')
if (!fromLink()) fill(kept.get('draft') ?? { query: '' })
editors.query.area.focus()
loadSchema()
