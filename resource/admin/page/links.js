// The related items of an item: relations to many, relations to one without a member for its id, and adding and removing links.

// maxFollowed is how many relations of an item are followed at a time, because browsers limit the connections to a host.
const maxFollowed = 2

// loadMany adds a section for each relation that the API reads by its name. The changes of links are followed until signal is
// aborted.
async function loadMany(resource, id, node, signal) {
	let followed = 0
	for (const relation of resource.relations ?? []) {
		if (!resourceNamed(relation.target) || !relation.many && relation.field) continue
		const section = relatedSection(resource, id, relation), { cursor } = await section.refresh()
		if (signal.aborted) return
		node.append(section.node)
		if (!relation.changes || ++followed > maxFollowed) continue
		const watch = cursor => signal.addEventListener('abort', follow(`/${relation.changes}${encodeURIComponent(id)}`, cursor, {
			event: section.changed,
			async state(now) {
				if (now !== 'expired') return
				await section.changed()
				const next = await section.refresh().catch(() => null)
				if (next && !signal.aborted) watch(next.cursor)
			},
		}))
		watch(cursor)
	}
}

// relatedSection returns the section of a relation:
//
//	node       its element
//	refresh    reads the pages that are shown. It resolves to the position of the feed, and to whether the items differ
//	changed    reads them because the links have changed
function relatedSection(resource, id, { name, target, paged, operations = [] }) {
	const to = resourceNamed(target), path = pathOf(resource.name, id), keyOf = item => textOf(item[to.id])
	const heading = make('h2', { id: unique('related'), tabIndex: -1 }, titleOf(name)), error = make('p', { class: 'wrong', role: 'alert' })
	const list = make('ul', { class: operations.length ? 'rows' : null }), none = make('p', { class: 'faint' }, 'None.'), more = make('div', { class: 'buttons' })
	let rows = new Map(), pages = 1, shown = null, last = Promise.resolve(), waits = false, writes = false

	const readPage = async after => {
		const page = [paged && 'limit=20', after && 'after=' + after].filter(Boolean).join(';')
		const { value, headers } = await call('GET', `${path}?${new URLSearchParams({ expand: page ? `${name}(${page})` : name })}`, { what: `read ${name}` })
		return { items: [value[name] ?? []].flat(), next: value[name + 'Page']?.next, cursor: headers.get('Event-Cursor') }
	}
	const readPages = async () => {
		let { items, next, cursor } = await readPage()
		for (let n = 1; n < pages && next; n++) {
			const page = await readPage(next)
			items = items.concat(page.items)
			next = page.next
		}
		const now = encode([items, !!next]), differs = now !== shown
		if (differs) show(items, next)
		shown = now
		return { cursor, differs }
	}
	const refresh = () => last = last.catch(() => {}).then(readPages)

	// show fills the list. The focus stays at its item or button, or moves to the item that is in its place now.
	const show = (items, next) => {
		const focused = document.activeElement, at = [...rows.values()].findIndex(row => row.contains(focused)), key = [...rows.keys()][at]
		const atMore = more.contains(focused)
		rows = new Map(items.map(item => [keyOf(item), rowOf(item)]))
		list.replaceChildren(...rows.values())
		none.hidden = items.length > 0
		more.replaceChildren(...next ? [button(`More ${name}`, moreItems)] : [])
		if (at >= 0) focusIn(rows.get(key) ?? list.children[Math.min(at, items.length - 1)], focused.tagName)
		if (atMore) focusIn(more, 'button')
		form?.update()
	}
	const focusIn = (row, tag) => (row?.querySelector(tag) ?? heading).focus()
	const rowOf = item => make('li', {}, link(nameOf(to, item), 'item', to.name, item[to.id]),
		operations.includes('unlink') && button('Remove', event => write('DELETE', item, event.target.parentElement), { 'aria-label': `Remove ${nameOf(to, item)}` }))
	const moreItems = () => attempt(more, async () => {
		const before = rows.size
		pages++
		await refresh().catch(failure => {
			pages--
			throw failure
		})
		focusIn(list.children[before], 'a')
	})
	const changed = async () => {
		if (waits) return
		waits = true
		await sleep(100) // so that many changes are read at once
		waits = false
		const { differs } = await refresh().catch(() => ({})) // the view stays as it is
		if (differs && !writes) report(`The ${name} of this ${singular(resource.name)} were changed elsewhere.`)
	}

	// attempt calls act, and shows an error in the element at. It resolves to whether there was none.
	const attempt = async (at, act) => {
		error.textContent = ''
		at.append(error)
		try {
			await act()
			return true
		} catch (failure) {
			error.textContent = failure.message
			if (failure.status === 401) openLogin(failure.message)
			return false
		}
	}

	// write adds or removes a link. Repeating it is harmless, so it has no precondition.
	const write = (method, item, at) => !writes && attempt(at, async () => {
		const adds = method === 'PUT'
		writes = true
		try {
			await call(method, `${path}/${name}/${encodeURIComponent(keyOf(item))}`, { what: adds ? `add to ${name}` : `remove from ${name}` })
			await refresh()
		} finally {
			writes = false
		}
		report(`${adds ? 'Added' : 'Removed'} ${nameOf(to, item)}.`)
	})
	const form = operations.includes('link') ? finder(to, name, attempt, item => rows.has(keyOf(item)), (item, row) => write('PUT', item, row)) : null
	return { node: make('section', { class: 'related', 'aria-labelledby': heading.id }, heading, list, none, more, form?.node), refresh, changed }
}

// finder returns a form that searches the items of a resource and adds the chosen one to a relation. has reports whether an
// item is there, and add adds it; an error is shown in the row. attempt is that of the section. The result has update, which
// is called when the items of the relation have changed.
function finder(to, name, attempt, has, add) {
	const noun = singular(to.name), input = make('input', { type: 'search', autocomplete: 'off' })
	const found = make('ul', { class: 'rows', 'aria-label': `Found ${to.name}` }), more = make('div', { class: 'buttons' })
	const rowOf = item => {
		const row = make('li'), text = nameOf(to, item)
		let state = null
		row.update = () => {
			if (state === has(item)) return
			state = has(item)
			const focused = row.contains(document.activeElement)
			row.replaceChildren(make('span', {}, text), state ? make('span', { class: 'faint' }, 'Added') : button('Add', () => add(item, row), { 'aria-label': `Add ${text}` }))
			if (focused) (nextButton(row) ?? input).focus()
		}
		row.update()
		return row
	}
	const nextButton = row => row && (row.querySelector('button') ?? nextButton(row.nextElementSibling))
	let searches = 0
	const find = after => attempt(node, async () => {
		const mine = ++searches, { items, next, none } = await searchItems(to, input.value.trim(), after)
		if (mine !== searches) return // a later search
		const rows = items.map(rowOf)
		after ? found.append(...rows) : found.replaceChildren(...rows.length ? rows : [make('li', { class: 'faint' }, none)])
		more.replaceChildren(...next ? [button(`More found ${to.name}`, () => find(next))] : [])
		report(rows.length ? `Found ${rows.length} ${rows.length === 1 ? noun : titleOf(to.name).toLowerCase()}.` : found.textContent)
		if (after) (nextButton(rows[0]) ?? input).focus()
	})
	const node = make('form', {
		class: 'query', role: 'search', 'aria-label': `Add to ${name}`, onsubmit: event => { event.preventDefault(); find() },
	}, labelled(`Find a ${noun} to add`, input), make('button', {}, 'Find'), found, more)
	return { node, update() { for (const row of found.children) row.update?.() } }
}

// searchItems returns the items of a resource that a text names: by its search, by a filter of the member that names its items, or
// the id. An empty text names all. none returns the reason if there are no items.
async function searchItems(to, text, after) {
	const label = to.fields.find(f => isLabel(to, f))?.name, op = ['contains', 'startsWith'].find(op => to.filter?.[label]?.includes(op))
	const by = to.search?.length ? 'q' : op && `${label}.${op}`, query = new URLSearchParams({ limit: Math.min(20, to.maxPageSize) })
	if (text && by) query.set(by, text)
	if (after) query.set('after', after)
	const isID = to.fields.find(f => f.name === to.id)?.type === 'integer' ? /^-?\d+$/.test(text) : text && !/^\.\.?$/.test(text)
	const exact = isID && !after && await read(to.name, text).catch(error => {
		if (![400, 403, 404, 405, 410].includes(error.status)) throw error
	})
	const listed = can(to, 'list') && (by || !text) && (await call('GET', `${pathOf(to.name)}?${query}`, { what: `list ${to.name}` })).value
	const others = listed?.items?.filter(item => !exact || !same(item[to.id], exact.item[to.id])) ?? []
	const none = by || !text ? `There is no such ${singular(to.name)}.` : `No ${singular(to.name)} has this id. They are found by id only.`
	return { items: exact ? [exact.item, ...others] : others, next: listed?.next, none }
}
