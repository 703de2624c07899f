// A list: the items of a resource as a table, page by page, with marks for changes while it is shown.

// listView returns the view of a resource. params are the filters and the order. actions returns buttons for a row, and
// top nodes above the table.
async function listView(resource, params, { actions, top } = {}) {
	const state = { resource, cursors: [''], rows: new Map(), stop: () => {} }
	place(state, params)
	const columns = resource.fields.filter(f => !f.writeOnly)
	const table = make('table', { class: 'items' }), live = make('span', { class: can(resource, 'watch') ? 'live' : null }), count = make('span', { class: 'faint' })
	const pages = make('div', { class: 'buttons' }), fresh = make('p', { class: 'fresh', hidden: true })
	const importers = catalog.imports.filter(i => i.target === resource.name)
	const heading = make('h1', { tabIndex: -1 }, titleOf(resource.name))
	const go = next => { location.hash = address('list', resource.name) + (next.size ? '?' + next : '') }
	const query = make('div')
	Object.assign(state, { columns, table, live, count, pages, fresh, actions, go })
	const node = make('div', {},
		make('div', { class: 'head' }, heading, can(resource, 'create') && !top && make('a', { class: 'button main', href: address('new', resource.name) }, `New ${singular(resource.name)}`),
			importers.map(i => make('a', { class: 'button', href: address('import', i.name) }, 'Import')),
			commandsOf(resource.name).map(c => make('a', { class: 'button', href: address('command', c.name) }, titleOf(c.name.split('/')[1])))),
		resource.doc && make('p', { class: 'faint' }, resource.doc), top, query,
		make('div', { class: 'state' }, count, live), fresh,
		make('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': `Table of ${resource.name}` }, table), pages)
	// show keeps the form above the table if the API refuses the query, so that the user can correct it.
	const show = (mine = routes) => showPage(state).catch(error => {
		if (mine !== routes || ![400, 422].includes(error.status)) throw error
		state.stop()
		for (const part of [table, pages, count, live]) part.replaceChildren()
		fresh.hidden = true
		fail(error)
	})
	const update = async next => {
		place(state, next)
		const focused = document.activeElement?.textContent
		query.replaceChildren(filterForm(resource, state.params, go))
		if (!document.activeElement?.isConnected || document.activeElement === document.body) {
			[...query.querySelectorAll('button')].find(b => b.textContent === focused)?.focus() ?? query.querySelector('input, select, button')?.focus()
		}
		await show()
	}
	query.append(filterForm(resource, state.params, go))
	await show()
	return { node, update, key: 'list ' + resource.name, end: () => { state.asked++; state.stop() } }
}

// place sets the query and the page of a list from the parameters of a fragment. after is the cursor of the page, and .page
// its number, which the API does not get. Cursors of pages before it are kept while the query is the same.
function place(state, next) {
	const params = new URLSearchParams(next), after = params.get('after') ?? ''
	const page = after ? Math.max(params.get('.page') - 1, 1) || 1 : 0
	params.delete('after')
	params.delete('.page')
	if (String(params) !== String(state.params)) state.cursors = ['']
	state.cursors[page] = after
	Object.assign(state, { params, page })
}

// showPage reads a page of a list, the current one by default, and follows the changes after it. If that fails, the current
// page remains.
async function showPage(state, page = state.page) {
	const { resource, params, table, columns } = state
	const query = new URLSearchParams(params)
	if (state.cursors[page]) query.set('after', state.cursors[page])
	const mine = state.asked = (state.asked ?? 0) + 1
	const { value, headers } = await call('GET', pathOf(resource.name) + (query.size ? '?' + query : ''), {
		what: `list ${resource.name}`, headers: can(resource, 'count') ? { Prefer: 'count=exact' } : {},
	})
	if (mine !== state.asked) return // a newer page was requested, or the view has ended
	state.stop()
	state.page = page
	state.rows.clear()
	state.fresh.hidden = true
	state.size = value.items.length
	state.total = value.total
	const body = make('tbody', {}, value.items.map(item => rowOf(state, item)))
	table.replaceChildren(make('thead', {}, make('tr', {}, columns.map(f => headOf(state, f)), state.actions && make('th', { scope: 'col' }, 'Actions'))), body)
	if (!value.items.length) body.append(make('tr', { class: 'none' }, make('td', { colSpan: columns.length + (state.actions ? 1 : 0) }, 'There are no items here.')))
	state.cursors[page + 1] = value.next
	showCount(state)
	const turn = (text, to, able) => button(text, async () => {
		await showPage(state, to)
		if (state.page !== to || !isShown(table)) return
		const next = new URLSearchParams(params)
		if (to) {
			next.set('after', state.cursors[to])
			next.set('.page', to + 1)
		}
		history.pushState(null, '', address('list', resource.name) + (next.size ? '?' + next : ''))
		fragment = location.hash
		const same = [...state.pages.children].find(b => b.textContent === text)
		;(same?.disabled === false ? same : [...state.pages.children].find(b => !b.disabled) ?? table.parentElement).focus()
		report(`Page ${state.page + 1}.`)
	}, { disabled: !able })
	const several = page > 0 || value.next, known = page === 0 || state.cursors[page - 1] !== undefined
	const back = known ? turn('Previous page', page - 1, page > 0) : turn('First page', 0, true)
	state.pages.replaceChildren(...several ? [back, turn('Next page', page + 1, value.next)] : [])
	if (can(resource, 'watch')) watchList(state, headers.get('Event-Cursor'))
	else if (!state.live.firstChild) state.live.append(again(state))
}

// again returns a button for a list without events.
const again = state => button('Read again', async () => {
	await showPage(state)
	report('The list was read again.')
})

// showCount shows the number of items.
function showCount({ count, total, size, page }) {
	const which = page ? `Page ${page + 1}: ` : ''
	count.textContent = which + (total === undefined ? plural(size, 'item') : size < total ? `${size} of ${plural(total, 'item')}` : plural(total, 'item'))
}

// headOf returns the head of a column. It sorts the list if the API can sort by the field.
function headOf({ resource, params, go }, field) {
	const sort = params.get('sort'), up = sort === field.name, down = sort === '-' + field.name
	const kind = isNumeric(resource, field) ? 'number' : null
	if (!resource.sort?.includes(field.name)) return make('th', { scope: 'col', class: kind }, titleOf(field.name))
	const turn = () => {
		const next = new URLSearchParams(params)
		next.set('sort', up ? '-' + field.name : field.name)
		go(next)
	}
	return make('th', { scope: 'col', class: kind, 'aria-sort': up ? 'ascending' : down ? 'descending' : 'none' },
		button(titleOf(field.name), turn, { class: 'sort' }))
}

// isNumeric reports whether a column has numbers that are compared, and not ids.
const isNumeric = (resource, f) => (/integer|number/.test(f.type) || f.format === 'decimal') && f.name !== resource.id && !relationOf(resource, f)

// rowOf returns the row of an item.
function rowOf(state, item) {
	const row = make('tr')
	state.rows.set(textOf(item[state.resource.id]), row)
	return fillRow(state, row, item)
}

// fillRow writes an item into a row.
function fillRow({ resource, columns, actions }, row, item) {
	const id = item[resource.id]
	row.replaceChildren(...columns.map(f => {
		const value = f.name === resource.id && !actions ? link(textOf(id), 'item', resource.name, id) : shown(f, item[f.name], relationOf(resource, f))
		return make(f.name === resource.id ? 'th' : 'td', { 'data-label': titleOf(f.name), scope: f.name === resource.id ? 'row' : null, class: isNumeric(resource, f) ? 'number' : null }, make('span', { class: 'cell' }, value))
	}), ...actions ? [make('td', { class: 'actions', 'data-label': 'Actions' }, make('span', { class: 'cell' }, actions(item, row)))] : [])
	return row
}

// watchList follows the changes of a list after a position of the feed, and marks the rows.
function watchList(state, cursor) {
	const { resource, live } = state
	const query = new URLSearchParams([...state.params].filter(([name]) => filterOf(resource, name)))
	let lost = false, missed = 0
	state.stop = follow(pathOf(resource.name) + (query.size ? '?' + query : ''), cursor, {
		event({ type, data }) {
			const item = decode(data)
			if (lost) missed++
			markRow(state, type, item)
		},
		state(now) {
			const texts = {
				live: lost ? 'Connected again. Changes are shown as they happen.' : 'Changes are shown as they happen.',
				lost: 'The connection is lost. Trying again…', refused: 'Changes of this list cannot be followed.',
				expired: 'Changes were missed.',
			}
			live.className = 'live ' + now
			const focused = live.contains(document.activeElement)
			live.textContent = texts[now]
			if (now === 'refused') live.append(' ', again(state))
			if (focused) (live.querySelector('button') ?? state.table.parentElement).focus()
			if (now === 'lost' && !lost || now === 'live' && lost) report(texts[now])
			lost = now === 'lost' || lost && now !== 'live'
			if (now === 'expired') showPage(state).catch(fail)
		},
	})
}

// markRow applies a change to the table and marks its row.
function markRow(state, kind, item) {
	const { resource, rows, table } = state, id = textOf(item[resource.id])
	let row = rows.get(id)
	if (!row && kind === 'deleted') return
	if (!row) {
		// The position of the item in a search or an aggregate order is unknown, so new rows are first.
		if (kind === 'updated') return
		if (state.params.get('q') || state.page) return offerReload(state)
		table.tBodies[0].querySelector('.none')?.remove()
		row = rowOf(state, item)
		table.tBodies[0].prepend(row)
		if (state.total !== undefined) state.total++
		state.size++
		showCount(state)
	} else if (kind !== 'deleted' && !row.contains(document.activeElement)) {
		fillRow(state, row, item)
	} else if (kind !== 'deleted') {
		const focused = [...row.querySelectorAll('a, button')].indexOf(document.activeElement)
		fillRow(state, row, item).querySelectorAll('a, button')[Math.max(focused, 0)]?.focus()
	}
	row.className = kind
	row.querySelector('.mark')?.remove()
	row.querySelector('th .cell, td .cell')?.append(make('span', { class: 'mark' }, kind))
	if (kind === 'deleted') for (const b of row.querySelectorAll('button')) b.disabled = true
	report(`${titleOf(singular(resource.name))} ${id} was ${kind}.`)
}

// offerReload reports that there are new items that the page does not show.
function offerReload(state) {
	state.fresh.hidden = false
	state.fresh.replaceChildren('There are new items. ', button('Show them', () => showPage(state)))
}

