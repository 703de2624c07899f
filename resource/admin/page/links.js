// The related items of an item: relations to many, relations to one without a member for its id, and
// adding and removing links.
import { make, report } from '../../httpbody/page/dom.js'
import { encode } from '../../httpbody/page/jsonvalue.js'
import { call } from './api.js'
import { pathOf, resourceNamed } from './catalog.js'
import { finder } from './finder.js'
import { openLogin } from './login.js'
import { button, faint, link, sleep, unique } from './parts.js'
import { follow } from './stream.js'
import { nameOf, singular, textOf, titleOf } from './values.js'
/** @import { Failure, Item, Relation, Resource } from './types' */

// maxFollowed is how many relations of an item are followed at a time, because browsers limit the
// connections to a host.
const maxFollowed = 2

// loadMany adds a section for each relation that the API reads by its name. The changes of links are
// followed until signal is aborted.
/**
 * @param {Resource} resource
 * @param {string} id
 * @param {HTMLElement} node
 * @param {AbortSignal} signal
 */
export async function loadMany(resource, id, node, signal) {
	let followed = 0
	for (const relation of resource.relations ?? []) {
		const to = resourceNamed(relation.target)
		if (!to || !relation.many && relation.field) continue
		const section = new RelatedSection(resource, id, relation, to), { cursor } = await section.refresh()
		if (signal.aborted) return
		node.append(section.node)
		if (relation.changes && ++followed <= maxFollowed) {
			followLinks(section, `/${relation.changes}${encodeURIComponent(id)}`, cursor, signal)
		}
	}
}

// followLinks refreshes a section when its links have changed, after a position of the feed.
/**
 * @param {RelatedSection} section
 * @param {string} path
 * @param {string | null} cursor
 * @param {AbortSignal} signal
 */
function followLinks(section, path, cursor, signal) {
	signal.addEventListener('abort', follow(path, cursor, {
		event: () => section.changed(),
		async state(now) {
			if (now !== 'expired') return
			await section.changed()
			const next = await section.refresh().catch(() => null)
			if (next && !signal.aborted) followLinks(section, path, next.cursor, signal)
		},
	}))
}

// RelatedSection is the section of a relation.
class RelatedSection {
	/** @type {Map<string, HTMLElement>} */
	rows = new Map()
	pages = 1
	/** @type {string | null} */
	shown = null // the items, as JSON
	/** @type {Promise<unknown>} */
	last = Promise.resolve()
	waits = false
	writes = false
	error = make('p', { class: 'wrong', role: 'alert' })
	none = faint('None.')
	more = make('div', { class: 'buttons' })

	/**
	 * @param {Resource} resource
	 * @param {string} id
	 * @param {Relation} relation
	 * @param {Resource} to the resource of the related items
	 */
	constructor(resource, id, { name, paged, operations = [] }, to) {
		this.resource = resource
		this.name = name
		this.paged = paged
		this.to = to
		this.path = pathOf(resource.name, id)
		this.removes = operations.includes('unlink')
		this.heading = make('h2', { id: unique('related'), tabIndex: -1 }, titleOf(name))
		this.list = make('ul', { class: operations.length ? 'rows' : null })
		this.finder = operations.includes('link') ? finder(to, name, {
			attempt: (at, act) => this.attempt(at, act),
			has: item => this.rows.has(this.keyOf(item)),
			add: (item, row) => this.write('PUT', item, row),
		}) : null
		this.node = make('section', { class: 'related', 'aria-labelledby': this.heading.id },
			this.heading, this.list, this.none, this.more, this.finder?.node)
	}

	/** @param {Item} item */
	keyOf(item) { return textOf(item[this.to.id]) }

	// readPage reads the page of the related items after a cursor.
	/** @param {string} [after] */
	async readPage(after) {
		const { name } = this
		const page = [this.paged && 'limit=20', after && 'after=' + after].filter(Boolean).join(';')
		const query = new URLSearchParams({ expand: page ? `${name}(${page})` : name })
		const { value, headers } = await call('GET', `${this.path}?${query}`, { what: `read ${name}` })
		/** @type {Item[]} */
		const items = [value[name] ?? []].flat()
		/** @type {string | undefined} */
		const next = value[name + 'Page']?.next
		return { items, next, cursor: headers.get('Event-Cursor') }
	}

	async readPages() {
		let { items, next, cursor } = await this.readPage()
		for (let n = 1; n < this.pages && next; n++) {
			const page = await this.readPage(next)
			items = items.concat(page.items)
			next = page.next
		}
		const now = encode([items, !!next]), differs = now !== this.shown
		if (differs) this.show(items, !!next)
		this.shown = now
		return { cursor, differs }
	}

	// refresh reads the pages that are shown. It resolves to the position of the feed, and to whether the
	// items differ.
	refresh() {
		const result = this.last.catch(() => {}).then(() => this.readPages())
		this.last = result
		return result
	}

	// show fills the list. The focus stays at its item or button, or moves to the item that is in its place
	// now.
	/**
	 * @param {Item[]} items
	 * @param {boolean} hasMore
	 */
	show(items, hasMore) {
		const { rows, list, more } = this, focused = document.activeElement
		const at = [...rows.values()].findIndex(row => row.contains(focused)), key = [...rows.keys()][at]
		const atMore = more.contains(focused)
		this.rows = new Map(items.map(item => [this.keyOf(item), this.rowOf(item)]))
		list.replaceChildren(...this.rows.values())
		this.none.hidden = items.length > 0
		more.replaceChildren(...hasMore ? [button(`More ${this.name}`, () => this.showMore())] : [])
		if (at >= 0) {
			const row = this.rows.get(key) ?? list.children[Math.min(at, items.length - 1)]
			this.focusIn(row, focused?.tagName ?? '')
		}
		if (atMore) this.focusIn(more, 'button')
		this.finder?.update()
	}

	/**
	 * @param {Element | undefined} row
	 * @param {string} tag
	 */
	focusIn(row, tag) {
		const found = /** @type {HTMLElement | null | undefined} */ (row?.querySelector(tag))
		;(found ?? this.heading).focus()
	}

	/** @param {Item} item */
	rowOf(item) {
		const { to } = this, name = nameOf(to, item), row = make('li')
		const remove = () => this.write('DELETE', item, row)
		row.append(link(name, 'item', to.name, item[to.id]))
		if (this.removes) row.append(button('Remove', remove, { 'aria-label': `Remove ${name}` }))
		return row
	}

	showMore() {
		return this.attempt(this.more, async () => {
			const before = this.rows.size
			this.pages++
			await this.refresh().catch(failure => {
				this.pages--
				throw failure
			})
			this.focusIn(this.list.children[before], 'a')
		})
	}

	// changed reads the items because the links have changed.
	async changed() {
		if (this.waits) return
		this.waits = true
		await sleep(100) // so that many changes are read at once
		this.waits = false
		const result = await this.refresh().catch(() => null) // the view stays as it is
		if (!result?.differs || this.writes) return
		report(`The ${this.name} of this ${singular(this.resource.name)} were changed elsewhere.`)
	}

	// attempt calls act, and shows an error in the element at. It resolves to whether there was none.
	/**
	 * @param {HTMLElement} at
	 * @param {() => Promise<unknown>} act
	 */
	async attempt(at, act) {
		const { error } = this
		error.textContent = ''
		at.append(error)
		try {
			await act()
			return true
		} catch (e) {
			const { message, status } = /** @type {Failure} */ (e)
			error.textContent = message
			if (status === 401) openLogin(message)
			return false
		}
	}

	// write adds or removes a link. Repeating it is harmless, so it has no precondition.
	/**
	 * @param {'PUT' | 'DELETE'} method
	 * @param {Item} item
	 * @param {HTMLElement} at
	 */
	async write(method, item, at) {
		if (this.writes) return
		const { name, to } = this, adds = method === 'PUT'
		const path = `${this.path}/${name}/${encodeURIComponent(this.keyOf(item))}`
		await this.attempt(at, async () => {
			this.writes = true
			try {
				await call(method, path, { what: adds ? `add to ${name}` : `remove from ${name}` })
				await this.refresh()
			} finally {
				this.writes = false
			}
			report(`${adds ? 'Added' : 'Removed'} ${nameOf(to, item)}.`)
		})
	}
}
