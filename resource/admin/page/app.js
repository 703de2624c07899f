// The page: it reads the description of the catalog and shows the view that the fragment of the URL names.
let view = null

// routes counts the views that were requested. A view that arrives after a newer one was requested is not shown.
let routes = 0

// loading is shown if a view takes more than 0.3 s.
const loading = 'Loading…'

// fragment is that of the view which is shown. arrived is a message for the next view: the arguments of notice.
let fragment = '', arrived = null

// A view has node, its element, and may have
//
//	key, update   shows other parameters of the same view
//	dirty         reports whether the user has changed something that is not saved
//	focus         moves the focus to its first control
//	end           is called when the view is left

// viewOf returns the view of a fragment, such as #list/orders?status=paid or #item/orders/5.
async function viewOf(kind, [name, id], params) {
	const resource = resourceNamed(name), files = catalog.files.find(f => f.name === name), named = c => c.name === name
	if (kind === 'files' && files || kind === 'list' && files) return filesView(files, params)
	if (kind === 'list' && resource) return listView(resource, params)
	if (kind === 'new' && resource && can(resource, 'create')) return newView(resource)
	if (kind === 'item' && files) return filesView(files, new URLSearchParams(id ? [[resource?.id ?? 'id', id]] : []))
	if (kind === 'item' && resource && id !== undefined) return itemView(resource, id)
	if (kind === 'import' && catalog.imports.some(named)) return importView(catalog.imports.find(named))
	if (kind === 'command' && catalog.commands.some(named)) return commandView(catalog.commands.find(named))
	return homeView()
}

// homeView lists what the catalog has.
function homeView() {
	const entries = catalog.resources.filter(r => !catalog.files.some(f => f.name === r.name))
	return {
		node: make('div', {}, make('h1', { tabIndex: -1 }, config.title), make('ul', { class: 'cards' },
			entries.map(r => make('li', {}, link(titleOf(r.name), 'list', r.name), make('p', { class: 'faint' }, r.doc ?? ''))),
			catalog.files.map(f => make('li', {}, link(titleOf(f.name), 'files', f.name), make('p', { class: 'faint' }, `Files of at most ${bytes(f.maxSize)}.`))),
			commandsOf().map(c => make('li', {}, link(c.name.split('/').map(titleOf).join(': '), 'command', c.name), make('p', { class: 'faint' }, c.doc ?? ''))))),
	}
}

// clear ends the view and removes everything that was read.
function clear() {
	routes++
	view?.end?.()
	view = null
	$('view').inert = false
	catalog = { keyed: false, resources: [], files: [], imports: [], commands: [] }
	for (const id of ['side', 'view', 'notice']) $(id).replaceChildren()
	document.title = config.title
}

// leave shows another view, which may be the same address, and a message with optional nodes, without asking for changes
// that are not saved. If the view of from has been left since, the message is shown above the current view.
function leave(from, hash, message, ...more) {
	if (!isShown(from)) return notice(message, 'good', ...more)
	if (view) view.dirty = null
	arrived = [message, 'good', ...more]
	if (location.hash === hash) return route()
	location.hash = hash
}

// mayLeave asks whether changes that are not saved can be lost. If there are none it resolves to true.
const mayLeave = async dirty => !dirty?.() || confirmed('Discard your changes?', 'The form has changes that are not saved.', 'Discard')

// changed is called when the fragment has changed. While the user is asked, the fragment is that of the form.
async function changed() {
	const wanted = location.hash
	if (wanted === fragment) return
	if (!view?.dirty?.()) return route()
	history.pushState(null, '', fragment || '#')
	if (document.querySelector('dialog[open]') || !await mayLeave(view.dirty)) return
	view.dirty = null
	location.hash = wanted
}

// decoded returns a part of a fragment. One with a stray % is as it was entered.
function decoded(part) {
	try {
		return decodeURIComponent(part)
	} catch {
		return part
	}
}

// route shows the view of the current fragment. A view that can update itself is kept. It returns the error of a view that
// cannot be shown.
async function route() {
	fragment = location.hash
	const [path, query] = location.hash.slice(1).split('?'), [kind, ...rest] = path.split('/').map(decoded)
	const params = new URLSearchParams(query), key = `${kind} ${rest[0]}`, mine = ++routes
	let failure = null
	notice('')
	$('side').classList.remove('open')
	$('menu').setAttribute('aria-expanded', 'false')
	const part = kind === 'import' ? catalog.imports.find(i => i.name === rest[0])?.target : rest[0]?.split('/')[0]
	for (const a of $('side').querySelectorAll('a')) {
		a.hash.split('/')[1] === encodeURIComponent(part) ? a.setAttribute('aria-current', 'page') : a.removeAttribute('aria-current')
	}
	const slow = setTimeout(() => mine === routes && !$('notice').textContent && notice(loading, 'faint'), 300)
	try {
		if (view?.update && view.key === key) return await view.update(params)
		view?.end?.()
		view = null
		$('view').inert = true // what is entered now would be lost
		const next = await viewOf(kind, rest, params)
		if (mine !== routes) return next.end?.()
		view = next
		$('view').replaceChildren(next.node)
	} catch (error) {
		if (mine !== routes) return
		failure = error
		view?.end?.()
		view = null
		$('view').replaceChildren(make('h1', { tabIndex: -1 }, titleOf(rest[0] ?? config.title)))
		fail(error)
	} finally {
		clearTimeout(slow)
		if (mine === routes && $('notice').textContent === loading) notice('')
	}
	$('view').inert = false
	const heading = $('view').querySelector('h1')
	document.title = heading.textContent === config.title ? config.title : `${heading.textContent} · ${config.title}`
	if (!$('login').open) view?.focus ? view.focus() : heading.focus()
	announce()
	return failure
}

// announce shows the message for the next view.
function announce() {
	if (arrived) notice(...arrived)
	arrived = null
}

// start reads the description and shows the view. It is called again when the user signs in or out. A form with changes that
// are not saved is kept. start returns the error if there was one.
async function start() {
	const kept = view?.dirty?.()
	if (!kept) clear()
	try {
		const answer = await fetch('description.json', { headers: identify({}), cache: 'no-cache' })
		if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => null), 'read the description of the API')
		catalog = decode(await answer.text())
	} catch (error) {
		fail(error)
		announce()
		return error
	}
	const names = catalog.resources.filter(r => !catalog.files.some(f => f.name === r.name)).map(r => ['list', r.name]).concat(catalog.files.map(f => ['files', f.name]))
	$('side').replaceChildren(make('ul', {}, names.map(([kind, name]) => make('li', {}, link(titleOf(name), kind, name)))))
	if (!kept) return route()
	notice('')
	return null
}

$('account').addEventListener('click', () => openLogin())
$('menu').addEventListener('click', () => $('menu').setAttribute('aria-expanded', $('side').classList.toggle('open')))
$('skip').addEventListener('click', () => $('view').querySelector('h1')?.focus())
window.addEventListener('hashchange', changed)
window.addEventListener('beforeunload', event => { if (view?.dirty?.()) event.preventDefault() })
start()
