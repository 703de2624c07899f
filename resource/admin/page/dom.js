// Elements. All text is inserted as text: nothing that a server returns is parsed as HTML.
const $ = id => document.getElementById(id)

// make returns an element. Properties that begin with "on" are listeners; "class", "role", "for" and those with a "-"
// are attributes; the others are members.
function make(tag, properties, ...children) {
	const e = document.createElement(tag)
	for (const [k, v] of Object.entries(properties ?? {})) {
		if (v == null) continue
		if (k.startsWith('on')) e.addEventListener(k.slice(2), v)
		else if (['class', 'role', 'for'].includes(k) || k.includes('-')) e.setAttribute(k, v)
		else e[k] = v
	}
	e.append(...children.flat(9).filter(x => x != null && x !== false && x !== ''))
	return e
}

// button returns a button that calls act. Errors of act are shown in the notice of the view.
const button = (text, act, properties) => make('button', {
	type: 'button', ...properties, onclick: event => Promise.resolve(act(event)).catch(fail),
}, text)

// link returns a link to a view, such as link('Order 5', 'item', 'orders', 5).
const link = (text, ...path) => make('a', { href: address(...path) }, text)

// address returns the fragment of a view.
const address = (...path) => '#' + path.map(encodeURIComponent).join('/')

// isShown reports whether an element is shown and no other view was requested: the view before the next one is inert.
const isShown = node => node.isConnected && !node.closest('[inert]')

// report writes to the status line, which screen readers announce. Repeated texts are announced again.
function report(text) {
	$('status').textContent = $('status').textContent === text ? text + '\u00a0' : text
}

// notice shows a message above the content of the view until the next one. kind is error or good.
function notice(text, kind = 'error', ...more) {
	const box = $('notice')
	box.className = kind
	box.replaceChildren(...(text ? [make('p', {}, text), ...more.filter(Boolean)] : []))
	if (kind === 'error' && text) box.scrollIntoView({ block: 'nearest' })
	if (kind !== 'error' && text) report(text)
}

// detailsOf returns a list of the errors of a problem document, false if it has none.
const detailsOf = errors => errors?.length > 0 && make('ul', {},
	errors.map(e => make('li', {}, e.detail ?? `${e.pointer ?? e.parameter ?? e.header}: ${e.code}`)))

// fail shows an error with the errors of its problem. A request that was aborted because the user left the view is no error.
function fail(error) {
	if (error?.name === 'AbortError') return
	notice(error?.message ?? String(error), 'error', detailsOf(error?.problem?.errors))
	if (error?.status === 401) openLogin(error.message)
}

// serial makes ids of elements unique.
let serial = 0
const unique = prefix => `${prefix}-${++serial}`

// labelled returns a control with its label, and optional nodes after the control.
function labelled(text, input, ...more) {
	input.id ||= unique('control')
	return make('div', { class: 'labelled' }, make('label', { for: input.id }, text), input, more)
}

// options returns the options of a select element for pairs of value and text.
const options = (pairs, selected) => pairs.map(([value, text]) => make('option', { value, selected: value === selected }, text ?? value))

// confirmed shows a dialog and resolves to true if the user confirms.
function confirmed(title, text, action) {
	const heading = unique('title')
	const dialog = make('dialog', { 'aria-labelledby': heading }, make('form', { method: 'dialog' },
		make('h2', { id: heading }, title), make('p', {}, text),
		make('menu', {}, make('button', { value: 'yes', class: 'danger' }, action), make('button', { value: '', autofocus: true }, 'Cancel'))))
	document.body.append(dialog)
	dialog.showModal()
	return new Promise(done => dialog.addEventListener('close', () => {
		dialog.remove()
		done(dialog.returnValue === 'yes')
	}))
}

// plural returns a number with a noun: 1 item, 1,003 items.
const plural = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

// bytes returns a size for readers.
function bytes(n) {
	for (const unit of ['bytes', 'KiB', 'MiB', 'GiB']) {
		if (n < 1024 || unit === 'GiB') return `${unit === 'bytes' ? n : n.toFixed(1)} ${unit}`
		n /= 1024
	}
}

const sleep = (ms, signal) => new Promise(done => {
	const timer = setTimeout(done, ms)
	signal?.addEventListener('abort', () => { clearTimeout(timer); done() }, { once: true })
})

