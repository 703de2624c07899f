// A list: the items of a resource as a table, page by page, with marks for changes while it is shown.
import { make, report } from '../../httpbody/page/dom.js'
import { decode } from '../../httpbody/page/jsonvalue.js'
import { call } from './api.js'
import { can, catalog, commandsOf, pathOf } from './catalog.js'
import { filterForm, filterOf } from './filters.js'
import { routes, setFragment } from './navigate.js'
import { fail } from './notice.js'
import { address, button, faint, heading, isShown, link, plural } from './parts.js'
import { follow } from './stream.js'
import { relationOf, shown, singular, textOf, titleOf } from './values.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Failure, Field, Item, List, Resource, RowActions, StreamState, View } from './types' */

// listView returns the view of a resource. params are the filters and the order. actions returns buttons
// for a row, and top nodes above the table.
/**
 * @param {Resource} resource
 * @param {URLSearchParams} params
 * @param {{ actions?: RowActions, top?: Children }} [more]
 * @returns {Promise<View>}
 */
export async function listView(resource, params, { actions, top } = {}) {
	const list = newList(resource, actions), { table, live, count, pages, fresh } = list
	const form = make('div')
	const node = make('div', {}, headOf(resource, !top), resource.doc && faint(resource.doc), top, form,
		make('div', { class: 'state' }, count, live), fresh,
		make('div', {
			class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Table of ${resource.name}`,
		}, table), pages)
	// show keeps the form above the table if the API refuses the query, so that the user can correct it.
	const show = (mine = routes) => showPage(list).catch((/** @type {Failure} */ error) => {
		if (mine !== routes || ![400, 422].includes(error.status ?? 0)) throw error
		list.stop()
		for (const part of [table, pages, count, live]) part.replaceChildren()
		fresh.hidden = true
		fail(error)
	})
	const update = async (/** @type {URLSearchParams} */ next) => {
		place(list, next)
		const focused = document.activeElement?.textContent
		form.replaceChildren(filterForm(resource, list.params, list.go))
		if (!document.activeElement?.isConnected || document.activeElement === document.body) {
			const again = [...form.querySelectorAll('button')].find(b => b.textContent === focused)
			const first = /** @type {HTMLElement | null} */ (form.querySelector('input, select, button'))
			;(again ?? first)?.focus()
		}
		await show()
	}
	place(list, params)
	form.append(filterForm(resource, list.params, list.go))
	await show()
	return { node, update, key: 'list ' + resource.name, end: () => { list.asked++; list.stop() } }
}

// newList returns the state of a list that was not read.
/**
 * @param {Resource} resource
 * @param {RowActions} [actions]
 * @returns {List}
 */
const newList = (resource, actions) => ({
	resource, params: new URLSearchParams(), page: 0, cursors: [''], rows: new Map(),
	columns: resource.fields.filter(f => !f.writeOnly), size: 0, asked: 0, actions,
	table: make('table', { class: 'items' }), count: make('span', { class: 'faint' }),
	live: make('span', { class: can(resource, 'watch') ? 'live' : null }),
	pages: make('div', { class: 'buttons' }), fresh: make('p', { class: 'fresh', hidden: true }),
	go: next => { location.hash = addressOf(resource, next) },
	stop: () => {},
})

// addressOf returns the fragment of a list with a query.
/**
 * @param {Resource} resource
 * @param {URLSearchParams} query
 */
const addressOf = (resource, query) => address('list', resource.name) + (query.size ? '?' + query : '')

// headOf returns the heading of a list with links to what can be done.
/**
 * @param {Resource} resource
 * @param {boolean} creates
 */
function headOf(resource, creates) {
	const { name } = resource
	const linkTo = (/** @type {string} */ text, /** @type {string[]} */ ...path) =>
		make('a', { class: path[0] === 'new' ? 'button main' : 'button', href: address(...path) }, text)
	return make('div', { class: 'head' }, heading(titleOf(name)),
		can(resource, 'create') && creates && linkTo(`New ${singular(name)}`, 'new', name),
		catalog.imports.filter(i => i.target === name).map(i => linkTo('Import', 'import', i.name)),
		commandsOf(name).map(c => linkTo(titleOf(c.name.split('/')[1]), 'command', c.name)))
}

// place sets the query and the page of a list from the parameters of a fragment. after is the cursor of
// the page, and .page its number, which the API does not get. Cursors of pages before it are kept while
// the query is the same.
/**
 * @param {List} list
 * @param {URLSearchParams} next
 */
function place(list, next) {
	const params = new URLSearchParams(next), after = params.get('after') ?? ''
	const page = after ? Math.max(Number(params.get('.page')) - 1, 1) || 1 : 0
	params.delete('after')
	params.delete('.page')
	if (String(params) !== String(list.params)) list.cursors = ['']
	list.cursors[page] = after
	Object.assign(list, { params, page })
}

// showPage reads a page of a list, the current one by default, and follows the changes after it. If that
// fails, the current page remains.
/**
 * @param {List} list
 * @param {number} [page]
 */
async function showPage(list, page = list.page) {
	const { resource, table, columns } = list
	const query = new URLSearchParams(list.params), mine = ++list.asked
	if (list.cursors[page]) query.set('after', list.cursors[page])
	const { value, headers } = await call('GET', pathOf(resource.name) + (query.size ? '?' + query : ''), {
		what: `list ${resource.name}`, headers: can(resource, 'count') ? { Prefer: 'count=exact' } : {},
	})
	if (mine !== list.asked) return // a newer page was requested, or the view has ended
	/** @type {Item[]} */
	const items = value.items
	list.stop()
	list.page = page
	list.rows.clear()
	list.fresh.hidden = true
	list.size = items.length
	list.total = value.total
	list.cursors[page + 1] = value.next
	const body = make('tbody', {}, items.map(item => rowOf(list, item)))
	const head = make('tr', {}, columns.map(f => columnOf(list, f)),
		list.actions && make('th', { scope: 'col' }, 'Actions'))
	table.replaceChildren(make('thead', {}, head), body)
	if (!items.length) {
		const colSpan = columns.length + (list.actions ? 1 : 0)
		body.append(make('tr', { class: 'none' }, make('td', { colSpan }, 'There are no items here.')))
	}
	showCount(list)
	showTurns(list, value.next)
	if (can(resource, 'watch')) watchList(list, headers.get('Event-Cursor'))
	else if (!list.live.firstChild) list.live.append(readAgain(list))
}

// showTurns shows the buttons that turn the page.
/**
 * @param {List} list
 * @param {string | undefined} next the cursor of the next page
 */
function showTurns(list, next) {
	const { page, pages } = list
	const turn = (/** @type {string} */ text, /** @type {number} */ to, /** @type {boolean} */ able) =>
		button(text, () => turnPage(list, to, text), { disabled: !able })
	const known = page === 0 || list.cursors[page - 1] !== undefined
	const back = known ? turn('Previous page', page - 1, page > 0) : turn('First page', 0, true)
	pages.replaceChildren(...page > 0 || next ? [back, turn('Next page', page + 1, !!next)] : [])
}

// turnPage shows another page, puts it into the URL and keeps the focus at the button with a text.
/**
 * @param {List} list
 * @param {number} to
 * @param {string} text
 */
async function turnPage(list, to, text) {
	const query = new URLSearchParams(list.params)
	await showPage(list, to)
	if (list.page !== to || !isShown(list.table)) return
	if (to) {
		query.set('after', list.cursors[to] ?? '')
		query.set('.page', String(to + 1))
	}
	setFragment(addressOf(list.resource, query))
	const buttons = /** @type {HTMLButtonElement[]} */ ([...list.pages.children]).filter(b => !b.disabled)
	const next = buttons.find(b => b.textContent === text) ?? buttons[0] ?? list.table.parentElement
	next.focus()
	report(`Page ${list.page + 1}.`)
}

// readAgain returns a button for a list without events.
/** @param {List} list */
const readAgain = list => button('Read again', async () => {
	await showPage(list)
	report('The list was read again.')
})

// showCount shows the number of items.
/** @param {List} list */
function showCount({ count, total, size, page }) {
	const which = page ? `Page ${page + 1}: ` : ''
	const all = plural(total ?? size, 'item')
	count.textContent = which + (total !== undefined && size < total ? `${size} of ${all}` : all)
}

// columnOf returns the head of a column. It sorts the list if the API can sort by the field.
/**
 * @param {List} list
 * @param {Field} field
 */
function columnOf({ resource, params, go }, field) {
	const sort = params.get('sort'), up = sort === field.name, down = sort === '-' + field.name
	const kind = isNumeric(resource, field) ? 'number' : null
	if (!resource.sort?.includes(field.name)) {
		return make('th', { scope: 'col', class: kind }, titleOf(field.name))
	}
	const turn = () => {
		const next = new URLSearchParams(params)
		next.set('sort', up ? '-' + field.name : field.name)
		go(next)
	}
	const direction = up ? 'ascending' : down ? 'descending' : 'none'
	return make('th', { scope: 'col', class: kind, 'aria-sort': direction },
		button(titleOf(field.name), turn, { class: 'sort' }))
}

// isNumeric reports whether a column has numbers that are compared, and not ids.
/**
 * @param {Resource} resource
 * @param {Field} f
 */
const isNumeric = (resource, f) => (/integer|number/.test(f.type) || f.format === 'decimal') &&
	f.name !== resource.id && !relationOf(resource, f)

// rowOf returns the row of an item.
/**
 * @param {List} list
 * @param {Item} item
 */
function rowOf(list, item) {
	const row = make('tr')
	list.rows.set(textOf(item[list.resource.id]), row)
	return fillRow(list, row, item)
}

// fillRow writes an item into a row.
/**
 * @param {List} list
 * @param {HTMLTableRowElement} row
 * @param {Item} item
 */
function fillRow({ resource, columns, actions }, row, item) {
	const id = item[resource.id]
	const cell = (/** @type {Children} */ content) => make('span', { class: 'cell' }, content)
	const cells = columns.map(f => {
		const isID = f.name === resource.id
		const value = isID && !actions ? link(textOf(id), 'item', resource.name, id)
			: shown(f, item[f.name], relationOf(resource, f))
		const properties = { 'data-label': titleOf(f.name), class: isNumeric(resource, f) ? 'number' : null }
		if (isID) return make('th', { ...properties, scope: 'row' }, cell(value))
		return make('td', properties, cell(value))
	})
	const last = actions &&
		make('td', { class: 'actions', 'data-label': 'Actions' }, cell(actions(item, row)))
	row.replaceChildren(...cells, ...last ? [last] : [])
	return row
}

// watchList follows the changes of a list after a position of the feed, and marks the rows.
/**
 * @param {List} list
 * @param {string | null} cursor
 */
function watchList(list, cursor) {
	const { resource, live } = list
	const filters = [...list.params].filter(([name]) => filterOf(resource, name))
	const query = new URLSearchParams(filters)
	let lost = false
	const state = (/** @type {StreamState} */ now) => {
		const texts = {
			live: (lost ? 'Connected again. ' : '') + 'Changes are shown as they happen.',
			lost: 'The connection is lost. Trying again…', expired: 'Changes were missed.',
			refused: 'Changes of this list cannot be followed.',
		}
		live.className = 'live ' + now
		const focused = live.contains(document.activeElement)
		live.textContent = texts[now]
		if (now === 'refused') live.append(' ', readAgain(list))
		if (focused) (live.querySelector('button') ?? list.table.parentElement)?.focus()
		if (now === 'lost' && !lost || now === 'live' && lost) report(texts[now])
		lost = now === 'lost' || lost && now !== 'live'
		if (now === 'expired') showPage(list).catch(fail)
	}
	list.stop = follow(pathOf(resource.name) + (query.size ? '?' + query : ''), cursor, {
		event: ({ type, data }) => markRow(list, type, decode(data)), state,
	})
}

// markRow applies a change to the table and marks its row.
/**
 * @param {List} list
 * @param {string} kind created, updated or deleted
 * @param {Item} item
 */
function markRow(list, kind, item) {
	const { resource, rows, table } = list, id = textOf(item[resource.id])
	let row = rows.get(id)
	if (!row) {
		// The position of the item in a search or an aggregate order is unknown, so new rows are first.
		if (kind === 'deleted' || kind === 'updated') return
		if (list.params.get('q') || list.page) return offerReload(list)
		table.tBodies[0].querySelector('.none')?.remove()
		row = rowOf(list, item)
		table.tBodies[0].prepend(row)
		if (list.total !== undefined) list.total++
		list.size++
		showCount(list)
	} else if (kind !== 'deleted') {
		const focusable = (/** @type {HTMLElement} */ row) =>
			/** @type {HTMLElement[]} */ ([...row.querySelectorAll('a, button')])
		const focused = focusable(row).findIndex(e => e === document.activeElement)
		const had = row.contains(document.activeElement)
		fillRow(list, row, item)
		if (had) focusable(row)[Math.max(focused, 0)]?.focus()
	}
	row.className = kind
	row.querySelector('.mark')?.remove()
	row.querySelector('th .cell, td .cell')?.append(make('span', { class: 'mark' }, kind))
	if (kind === 'deleted') for (const b of row.querySelectorAll('button')) b.disabled = true
	report(`${titleOf(singular(resource.name))} ${id} was ${kind}.`)
}

// offerReload reports that there are new items that the page does not show.
/** @param {List} list */
function offerReload(list) {
	list.fresh.hidden = false
	list.fresh.replaceChildren('There are new items. ', button('Show them', () => showPage(list)))
}
