// The view that is shown, and the fragment of the URL that names it.
import { $, make } from '../../httpbody/page/dom.js'
import { decode } from '../../httpbody/page/jsonvalue.js'
import { Refusal } from './api.js'
import { catalog, plainResources, setCatalog } from './catalog.js'
import { fail, notice } from './notice.js'
import { confirmed, heading, isShown, link } from './parts.js'
import { config, identify } from './session.js'
import { titleOf } from './values.js'
/** @import { Failure, View } from './types' */

/** @typedef {(kind: string, path: string[], params: URLSearchParams) => Promise<View>} FindView */
/** @typedef {Parameters<typeof notice>} Notice */

/** @type {FindView} */
let findView

// setViews sets the function that returns the view of a fragment. The views import this module.
/** @param {FindView} find */
export function setViews(find) { findView = find }

/** @type {View | null} */
let view = null

// routes counts the views that were requested. A view that arrives after a newer one was requested is not
// shown.
export let routes = 0

// loading is shown if a view takes more than 0.3 s.
const loading = 'Loading…'

// fragment is that of the view which is shown.
let fragment = ''

// arrived is a message for the next view.
/** @type {Notice | null} */
let arrived = null

// noticeNext shows a message above the next view.
/** @param {Notice} message */
export function noticeNext(...message) { arrived = message }

// setFragment changes the fragment of the view that is shown.
/** @param {string} hash */
export function setFragment(hash) {
	history.pushState(null, '', hash)
	fragment = location.hash
}

// endView ends the view that is shown.
function endView() {
	view?.end?.()
	view = null
}

// clear ends the view and removes everything that was read.
export function clear() {
	routes++
	endView()
	$('view').inert = false
	setCatalog()
	for (const id of ['side', 'view', 'notice']) $(id).replaceChildren()
	document.title = config.title
}

// leave shows another view, which may be the same address, and a message with optional nodes, without
// asking for changes that are not saved. If the view of from has been left since, the message is shown
// above the current view.
/**
 * @param {Element} from
 * @param {string} hash
 * @param {string} message
 * @param {...(Node | null)} more
 */
export function leave(from, hash, message, ...more) {
	if (!isShown(from)) return notice(message, 'good', ...more)
	if (view) view.dirty = null
	noticeNext(message, 'good', ...more)
	if (location.hash === hash) return route()
	location.hash = hash
}

// isDirty reports whether the view has changes that are not saved.
export const isDirty = () => !!view?.dirty?.()

// mayLeave asks whether changes that are not saved can be lost. If there are none it resolves to true.
export const mayLeave = async (dirty = isDirty) => !dirty() ||
	confirmed('Discard your changes?', 'The form has changes that are not saved.', 'Discard')

// changed is called when the fragment has changed. While the user is asked, the fragment is that of the
// form.
export async function changed() {
	const wanted = location.hash
	if (wanted === fragment) return
	if (!isDirty()) return route()
	history.pushState(null, '', fragment || '#')
	if (document.querySelector('dialog[open]') || !await mayLeave()) return
	if (view) view.dirty = null
	location.hash = wanted
}

// decoded returns a part of a fragment. One with a stray % is as it was entered.
/** @param {string} part */
function decoded(part) {
	try {
		return decodeURIComponent(part)
	} catch {
		return part
	}
}

// route shows the view of the current fragment. A view that can update itself is kept. It returns the
// error of a view that cannot be shown.
async function route() {
	fragment = location.hash
	const [path, query] = fragment.slice(1).split('?'), [kind, ...rest] = path.split('/').map(decoded)
	const params = new URLSearchParams(query), key = `${kind} ${rest[0]}`, mine = ++routes
	/** @type {Failure | null} */
	let failure = null
	notice('')
	markLinks(kind, rest[0])
	const isEmpty = () => mine === routes && !$('notice').textContent
	const slow = setTimeout(() => isEmpty() && notice(loading, 'faint'), 300)
	try {
		if (view?.update && view.key === key) {
			await view.update(params)
			return null
		}
		endView()
		$('view').inert = true // what is entered now would be lost
		const next = await findView(kind, rest, params)
		if (mine !== routes) {
			next.end?.()
			return null
		}
		view = next
		$('view').replaceChildren(next.node)
	} catch (error) {
		if (mine !== routes) return null
		failure = /** @type {Failure} */ (error)
		endView()
		$('view').replaceChildren(heading(titleOf(rest[0] ?? config.title)))
		fail(error)
	} finally {
		clearTimeout(slow)
		if (mine === routes && $('notice').textContent === loading) notice('')
	}
	showTitle()
	announce()
	return failure
}

// markLinks marks the link to the current list, and hides the links on a small screen.
/**
 * @param {string} kind
 * @param {string | undefined} name
 */
function markLinks(kind, name) {
	$('side').classList.remove('open')
	$('menu').setAttribute('aria-expanded', 'false')
	const part = kind === 'import' ? catalog.imports.find(i => i.name === name)?.target : name?.split('/')[0]
	for (const a of $('side').querySelectorAll('a')) {
		if (a.hash.split('/')[1] === encodeURIComponent(String(part))) a.setAttribute('aria-current', 'page')
		else a.removeAttribute('aria-current')
	}
}

// showTitle makes the view usable, sets the title of the page and moves the focus into the view.
function showTitle() {
	$('view').inert = false
	const h1 = $('view').querySelector('h1'), text = h1?.textContent
	document.title = text === config.title ? config.title : `${text} · ${config.title}`
	if (/** @type {HTMLDialogElement} */ ($('login')).open) return
	if (view?.focus) view.focus()
	else h1?.focus()
}

// announce shows the message for the next view.
function announce() {
	if (arrived) notice(...arrived)
	arrived = null
}

// start reads the description and shows the view. It is called again when the user signs in or out. A form
// with changes that are not saved is kept. start returns the error if there was one.
export async function start() {
	const kept = isDirty()
	if (!kept) clear()
	try {
		const answer = await fetch('description.json', { headers: identify({}), cache: 'no-cache' })
		if (!answer.ok) {
			const problem = await answer.json().catch(() => null)
			throw new Refusal(answer.status, problem, 'read the description of the API')
		}
		setCatalog(decode(await answer.text()))
	} catch (error) {
		fail(error)
		announce()
		return /** @type {Failure} */ (error)
	}
	const links = [...plainResources().map(r => link(titleOf(r.name), 'list', r.name)),
		...catalog.files.map(f => link(titleOf(f.name), 'files', f.name))]
	$('side').replaceChildren(make('ul', {}, links.map(a => make('li', {}, a))))
	if (!kept) return route()
	notice('')
	return null
}
