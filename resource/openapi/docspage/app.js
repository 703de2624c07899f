// The page: the view that the URL selects, the navigation and the keys.
import { $, make, report } from '../../httpbody/page/dom.js'
import { compareView } from './compare.js'
import { onLogin, openLogin } from './credentials.js'
import { documents, fullLink, load, versionName } from './documents.js'
import { decoded, operationOf } from './model.js'
import { kept, messageOf } from './parts.js'
import { searching } from './search.js'
import { endStreams, panelView } from './try.js'
import {
	aboutView, badge, hrefOf, methodsOf, operationView, overviewView, schemaPage, split,
} from './views.js'
/** @import { Model, Operation } from './types' */

/** @type {Model | null} */
let model = null
/** @type {Operation | null} */
let shown = null
let shows = 0 // counts the views that were requested

// show draws the view that the fragment names, unless a newer one was requested before it is ready.
/**
 * @param {Model} model
 * @param {boolean} [focus] moves the focus to the view
 */
async function show(model, focus) {
	const main = $('main'), panel = $('panel'), mine = ++shows
	const name = decoded(location.hash.slice(1)), op = operationOf(model, name) ?? null
	const view = op ? operationView(model, op) : await otherView(model, name)
	if (mine !== shows) return
	shown = op
	endStreams(model, op)
	main.replaceChildren(...nodes(view))
	panel.hidden = !op
	document.body.classList.toggle('with-panel', !!op)
	panel.replaceChildren(...nodes(op ? panelView(model, op) : []))
	const title = op ? op.summary || op.id : main.querySelector('h1')?.textContent ?? ''
	document.title = `${title} · ${model.doc.info.title ?? 'API'}`
	markCurrent(op)
	showMenu(false)
	scrollTo(0, 0)
	main.scrollTop = 0
	if (focus) main.focus({ preventScroll: true })
}

/**
 * @param {any[]} view
 * @returns {(string | Node)[]}
 */
const nodes = view => view.flat(9).filter(Boolean)

// otherView returns the view of a fragment that names no operation.
/**
 * @param {Model} model
 * @param {string} name
 */
function otherView(model, name) {
	if (/^compare(\/|$)/.test(name)) return comparison(model, name.slice(8))
	if (name === 'about') return aboutView(model)
	if (name.startsWith('schema/') && Object.hasOwn(model.schemas, name.slice(7))) {
		return schemaPage(model, name.slice(7))
	}
	return overviewView(model, fullLink())
}

/**
 * @param {Model} model
 * @param {string} other
 */
async function comparison(model, other) {
	const names = documents.map(d => d.name).filter(n => n !== versionName())
	const name = names.includes(other) ? other : names[0]
	if (!name) return overviewView(model, fullLink())
	const choose = make('select', {
		'aria-label': 'Compare with', onchange: e => { location.hash = `compare/${e.currentTarget.value}` },
	}, names.map(n => make('option', { value: n, selected: n === name }, n)))
	return compareView(model, await load(name), choose)
}

/** @param {Operation | null} op */
function markCurrent(op) {
	for (const a of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('#operations a'))) {
		if (a.dataset.id === op?.id) {
			a.setAttribute('aria-current', 'page')
			const group = a.closest('details')
			if (group) group.open = true
			a.scrollIntoView({ block: 'nearest' })
		} else a.removeAttribute('aria-current')
	}
}

/** @param {Model} model */
function drawNavigation(model) {
	const row = (/** @type {Operation} */ o) => make('li', {}, make('a', {
		href: hrefOf(o), 'data-id': o.id, class: o.deprecated ? 'old' : '', title: `${o.method} ${o.path}`,
	}, badge(o.method), make('span', {}, o.summary || o.path)))
	$('operations').replaceChildren(...model.tags.map(tag => {
		const [usual, others] = split(tag.operations)
		return make('details', { open: true }, make('summary', {}, tag.name),
			make('ul', {}, usual.map(row), others.length > 0 && make('li', {},
				make('details', { class: 'others' }, make('summary', {}, methodsOf(others)),
					make('ul', {}, others.map(row))))))
	}))
}

// start reads the document of the selected version and shows it.
/** @param {boolean} [focus] */
async function start(focus) {
	try {
		model = await load(versionName())
	} catch (e) {
		const text = messageOf(e), { status } = /** @type {any} */ (e), login = () => openLogin(null)
		$('main').replaceChildren(make('h1', {}, 'The document cannot be read'),
			make('p', { class: 'wrong' }, text),
			make('p', {}, make('button', { type: 'button', onclick: () => start(true) }, 'Try again'), ' ',
				status === 401 && make('button', { type: 'button', onclick: login }, 'Authorize')))
		report(text)
		return
	}
	$('title').textContent = model.doc.info.title ?? 'API'
	$('compare').hidden = $('versions').hidden = documents.length < 2
	version.replaceChildren(...documents.map(d =>
		make('option', { value: d.name, selected: d.name === versionName() }, d.name)))
	drawNavigation(model)
	await show(model, focus)
}
const version = /** @type {HTMLSelectElement} */ ($('version'))

/** @param {boolean} open */
function showMenu(open) {
	document.body.classList.toggle('menu', open)
	$('menu').setAttribute('aria-expanded', String(open))
}
function theme() {
	const order = ['', 'light', 'dark']
	kept.set('theme', order[(order.indexOf(kept.get('theme') ?? '') + 1) % 3])
	dress()
}
function dress() {
	const name = kept.get('theme') || ''
	document.documentElement.style.colorScheme = name || 'light dark'
	$('theme').textContent = name === 'light' ? '☀' : name === 'dark' ? '☾' : '◐'
	$('theme').setAttribute('aria-label', `Colors: ${name || 'as the system'}`)
}
/** @param {number} by */
function step(by) {
	const all = model?.tags.flatMap(t => split(t.operations)[0]) ?? [], i = shown ? all.indexOf(shown) : -1
	location.hash = hrefOf(all[i < 0 ? (by > 0 ? 0 : all.length - 1) : (i + by + all.length) % all.length])
}
function compare() {
	if (documents.length > 1) location.hash = /^#compare(\/|$)/.test(location.hash) ? '' : 'compare'
}
const singleKeys = /** @type {HTMLInputElement} */ ($('single-keys'))
singleKeys.checked = kept.get('single-keys') ?? true
singleKeys.addEventListener('change', () => kept.set('single-keys', singleKeys.checked))
const showKeys = () => /** @type {HTMLDialogElement} */ ($('keys')).showModal()

/** @type {Map<string, () => unknown>} */
const keys = new Map(Object.entries({
	'/': () => {
		showMenu(true)
		$('search').focus()
	},
	j: () => step(1), k: () => step(-1), h: () => { location.hash = '' }, c: compare, d: theme,
	t: () => $('panel').querySelector(/** @type {'input'} */ ('input, select, textarea, button'))?.focus(),
	a: () => openLogin(model), '?': showKeys,
}))
addEventListener('keydown', e => {
	if (document.querySelector('dialog[open]') || !model) return
	if ((e.ctrlKey || e.metaKey) && e.key === 'Enter') {
		if (!$('send')) return
		e.preventDefault()
		$('send').click()
		return
	}
	const act = keys.get(e.key), target = /** @type {Element} */ (e.target)
	if (!act || !singleKeys.checked || e.ctrlKey || e.metaKey || e.altKey) return
	// After a dialog is closed, its input has the focus until the next frame.
	if (target.closest('input, textarea, select, [contenteditable]')?.checkVisibility()) return
	e.preventDefault()
	act()
})
addEventListener('hashchange', () => { if (model) show(model, true) })
addEventListener('popstate', () => { if (model && version.value !== versionName()) start(true) })
version.addEventListener('change', () => {
	const url = new URL(location.href)
	url.searchParams.set('version', version.value)
	history.pushState(null, '', url)
	start()
})
$('compare').addEventListener('click', compare)
$('auth').addEventListener('click', () => openLogin(model))
$('theme').addEventListener('click', theme)
$('help').addEventListener('click', showKeys)
$('menu').addEventListener('click', () => showMenu(!document.body.classList.contains('menu')))
onLogin(saved => {
	if (model) show(model)
	else if (saved) start()
})
searching(/** @type {HTMLInputElement} */ ($('search')), $('found'), () => model)
dress()
start()
