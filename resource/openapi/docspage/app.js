// The page: which document and which view the URL selects, the navigation and the keys.
const documents = JSON.parse(document.querySelector('meta[name=documents]').content)
let model = null, shown = null
const models = new Map()

// load reads a document. It sends the token that was entered before a document was read, and no credentials of a scheme.
async function load(name) {
	const of = documents.find(d => d.name === name) ?? documents[0], url = new URL(full() && of.full || of.url, location.href).href
	if (models.has(url)) return models.get(url)
	const entered = kept.get('credentials', 'sessionStorage')?.token
	const response = await fetch(url, { headers: { Accept: 'application/json, application/openapi+json', ...entered && { Authorization: `Bearer ${entered}` } } })
	if (!response.ok) throw Object.assign(new Error(`The document ${of.url} cannot be read: ${response.status} ${response.statusText}.`), { status: response.status })
	const made = makeModel(parseDocument(await response.text()), url)
	models.set(url, made)
	return made
}
// full reports whether the URL selects the documents that describe more, and fullLink is the link to the others.
const full = () => new URLSearchParams(location.search).get('profile') === 'full'
function fullLink() {
	if (!documents.some(d => d.full)) return null
	const url = new URL(location.href)
	full() ? url.searchParams.delete('profile') : url.searchParams.set('profile', 'full')
	return make('a', { href: url.href }, full() ? 'Show what generated clients use' : 'Show everything')
}
const versionName = () => {
	const name = new URLSearchParams(location.search).get('version')
	return documents.some(d => d.name === name) ? name : documents[0].name
}

// shows counts the views that were requested. A view that is ready after a newer one was requested is not shown.
let shows = 0

// show draws the view that the fragment names. focus moves the focus to its heading.
async function show(focus) {
	const main = $('main'), panel = $('panel'), mine = ++shows
	let name = location.hash.slice(1), view
	try {
		name = decodeURIComponent(name)
	} catch {
		// It is not a link of the page.
	}
	const op = operationOf(model, name) ?? null
	if (op) view = operationView(model, op)
	else if (/^compare(\/|$)/.test(name)) view = await comparison(name.slice(8))
	else if (name === 'about') view = aboutView(model)
	else if (name.startsWith('schema/') && Object.hasOwn(model.schemas, name.slice(7))) {
		view = schemaPage(model, name.slice(7))
	} else view = overviewView(model)
	if (mine !== shows) return
	shown = op
	const current = op && formOf(model, op)
	for (const form of forms.values()) if (form.streams && form !== current) form.sending?.abort()
	main.replaceChildren(...[view].flat(9).filter(Boolean))
	panel.hidden = !op
	document.body.classList.toggle('with-panel', !!op)
	panel.replaceChildren(...op ? [panelView(model, op)].flat(9).filter(Boolean) : [])
	document.title = `${op ? op.summary || op.id : main.querySelector('h1')?.textContent ?? ''} · ${model.doc.info.title ?? 'API'}`
	for (const a of document.querySelectorAll('#operations a')) {
		if (a.dataset.id === op?.id) { a.setAttribute('aria-current', 'page'); a.closest('details').open = true; a.scrollIntoView({ block: 'nearest' }) }
		else a.removeAttribute('aria-current')
	}
	menu(false)
	scrollTo(0, 0)
	main.scrollTop = 0
	if (focus) main.focus({ preventScroll: true })
}

// comparison returns the view that compares the document with another one.
async function comparison(other) {
	const names = documents.map(d => d.name).filter(n => n !== versionName()), name = names.includes(other) ? other : names[0]
	if (!name) return overviewView(model)
	const choose = make('select', { 'aria-label': 'Compare with', onchange: e => { location.hash = `compare/${e.target.value}` } }, names.map(n => make('option', { value: n, selected: n === name }, n)))
	return compareView(model, await load(name), name, choose)
}

// drawNavigation fills the left column.
function drawNavigation() {
	$('operations').replaceChildren(...model.tags.map(tag => {
		const [usual, others] = split(tag.operations), row = o => make('li', {}, make('a', { href: hrefOf(o), 'data-id': o.id, class: o.deprecated ? 'old' : '', title: `${o.method} ${o.path}` }, badge(o.method), make('span', {}, o.summary || o.path)))
		return make('details', { open: true }, make('summary', {}, tag.name), make('ul', {}, usual.map(row), others.length > 0 && make('li', {}, make('details', { class: 'others' }, make('summary', {}, [...new Set(others.map(o => o.method))].join(', ')), make('ul', {}, others.map(row))))))
	}))
}

// start reads the document of the selected version and shows it.
async function start(focus) {
	try {
		model = await load(versionName())
	} catch (e) {
		$('main').replaceChildren(make('h1', {}, 'The document cannot be read'), make('p', { class: 'wrong' }, e.message), make('p', {}, make('button', { type: 'button', onclick: () => start(true) }, 'Try again'), ' ', e.status === 401 && make('button', { type: 'button', onclick: () => openLogin({ schemes: {} }) }, 'Authorize')))
		report(e.message)
		return
	}
	$('title').textContent = model.doc.info.title ?? 'API'
	$('compare').hidden = $('versions').hidden = documents.length < 2
	$('version').replaceChildren(...documents.map(d => make('option', { value: d.name, selected: d.name === versionName() }, d.name)))
	drawNavigation()
	await show(focus)
}

function menu(open) {
	document.body.classList.toggle('menu', open)
	$('menu').setAttribute('aria-expanded', open)
}
function theme() {
	const order = ['', 'light', 'dark']
	kept.set('theme', order[(order.indexOf(kept.get('theme') ?? '') + 1) % 3])
	dress()
}
function dress() {
	const name = kept.get('theme') || ''
	document.documentElement.style.colorScheme = name || 'light dark'
	$('theme').textContent = { light: '☀', dark: '☾' }[name] ?? '◐'
	$('theme').setAttribute('aria-label', `Colors: ${name || 'as the system'}`)
}
// step shows the next or previous operation.
function step(by) {
	const all = model.tags.flatMap(t => split(t.operations)[0]), i = all.indexOf(shown)
	location.hash = hrefOf(all[i < 0 ? (by > 0 ? 0 : all.length - 1) : (i + by + all.length) % all.length])
}
const compare = () => { if (documents.length > 1) location.hash = /^#compare(\/|$)/.test(location.hash) ? '' : 'compare' }

const keys = {
	'/': () => { menu(true); $('search').focus() },
	j: () => step(1), k: () => step(-1), h: () => { location.hash = '' }, c: compare, d: theme,
	t: () => $('panel').querySelector('input, select, textarea, button')?.focus(),
	a: () => openLogin(model), '?': () => $('keys').showModal(),
}
addEventListener('keydown', e => {
	if (document.querySelector('dialog[open]') || !model) return
	if ((e.ctrlKey || e.metaKey) && e.key === 'Enter') { if ($('send')) { e.preventDefault(); $('send').click() } return }
	// After a dialog is closed, its input has the focus until the next frame.
	if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, select')?.checkVisibility()) return
	if (!keys[e.key]) return
	e.preventDefault()
	keys[e.key]()
})
addEventListener('hashchange', () => { if (model) show(true) })
addEventListener('popstate', () => { if (model && $('version').value !== versionName()) start(true) })
$('version').addEventListener('change', e => {
	const url = new URL(location.href)
	url.searchParams.set('version', e.target.value)
	history.pushState(null, '', url)
	start()
})
$('compare').addEventListener('click', compare)
$('auth').addEventListener('click', () => openLogin(model ?? { schemes: {} }))
$('theme').addEventListener('click', theme)
$('help').addEventListener('click', () => $('keys').showModal())
$('menu').addEventListener('click', () => menu(!document.body.classList.contains('menu')))
$('login').addEventListener('close', e => {
	if (e.target.returnValue !== 'save') return
	kept.set('credentials', { ...kept.get('credentials', 'sessionStorage'), ...Object.fromEntries([...$('schemes').querySelectorAll('input')].map(i => [i.id.slice(11), i.value])) }, 'sessionStorage')
	if (model) show()
	else start()
})
$('forget').addEventListener('click', () => {
	kept.set('credentials', {}, 'sessionStorage')
	for (const i of $('schemes').querySelectorAll('input')) i.value = ''
	if (model) show()
})
searching($('search'), $('found'), () => model)
dress()
start()
