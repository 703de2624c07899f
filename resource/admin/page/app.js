// The page: the views of fragments, and the buttons beside the view.
import { $, make } from '../../httpbody/page/dom.js'
import { can, catalog, commandsOf, plainResources, resourceNamed } from './catalog.js'
import { commandView } from './commands.js'
import { filesView } from './files.js'
import { importView } from './imports.js'
import { itemView, newView } from './item.js'
import { listView } from './list.js'
import { openLogin } from './login.js'
import { changed, isDirty, setViews, start } from './navigate.js'
import { setSignIn } from './notice.js'
import { bytes, faint, heading, link } from './parts.js'
import { config } from './session.js'
import { titleOf } from './values.js'
/** @import { View } from './types' */

// viewOf returns the view of a fragment, such as #list/orders?status=paid or #item/orders/5.
/** @type {(kind: string, path: string[], params: URLSearchParams) => Promise<View>} */
async function viewOf(kind, [name, id], params) {
	const resource = resourceNamed(name), files = catalog.files.find(f => f.name === name)
	if (files && ['files', 'list'].includes(kind)) return filesView(files, params)
	if (files && kind === 'item') {
		return filesView(files, new URLSearchParams(id ? [[resource?.id ?? 'id', id]] : []))
	}
	if (resource && kind === 'list') return listView(resource, params)
	if (resource && kind === 'new' && can(resource, 'create')) return newView(resource)
	if (resource && kind === 'item' && id !== undefined) return itemView(resource, id)
	const imported = catalog.imports.find(i => i.name === name)
	if (imported && kind === 'import') return importView(imported)
	const command = catalog.commands.find(c => c.name === name)
	if (command && kind === 'command') return commandView(command)
	return homeView()
}

// homeView lists what the catalog has.
/** @returns {View} */
function homeView() {
	const entry = (/** @type {HTMLElement} */ a, /** @type {string} */ text) => make('li', {}, a, faint(text))
	return {
		node: make('div', {}, heading(config.title), make('ul', { class: 'cards' },
			plainResources().map(r => entry(link(titleOf(r.name), 'list', r.name), r.doc ?? '')),
			catalog.files.map(f =>
				entry(link(titleOf(f.name), 'files', f.name), `Files of at most ${bytes(f.maxSize)}.`)),
			commandsOf().map(c =>
				entry(link(c.name.split('/').map(titleOf).join(': '), 'command', c.name), c.doc ?? '')))),
	}
}

setViews(viewOf)
setSignIn(openLogin)
$('account').addEventListener('click', () => openLogin())
$('menu').addEventListener('click', () =>
	$('menu').setAttribute('aria-expanded', String($('side').classList.toggle('open'))))
$('skip').addEventListener('click', () => $('view').querySelector('h1')?.focus())
window.addEventListener('hashchange', changed)
window.addEventListener('beforeunload', event => { if (isDirty()) event.preventDefault() })
start()
