// A form that finds items to add to a relation.
import { make, report } from '../../httpbody/page/dom.js'
import { call, read } from './api.js'
import { can, pathOf } from './catalog.js'
import { button, labelled } from './parts.js'
import { same } from './patch.js'
import { isLabel, nameOf, singular, titleOf } from './values.js'
/** @import { Failure, Item, Resource } from './types' */

/**
 * @typedef {object} Target the section of the relation
 * @property {(at: HTMLElement, act: () => Promise<unknown>) => Promise<boolean>} attempt
 * shows an error of act in an element
 * @property {(item: Item) => boolean} has
 * @property {(item: Item, row: HTMLElement) => unknown} add shows an error in the row
 */

// finder returns a form that searches the items of a resource and adds the chosen one to a relation. The
// result has update, which is called when the items of the relation have changed.
/**
 * @param {Resource} to
 * @param {string} name
 * @param {Target} target
 */
export function finder(to, name, { attempt, has, add }) {
	const noun = singular(to.name), input = make('input', { type: 'search', autocomplete: 'off' })
	const found = make('ul', { class: 'rows', 'aria-label': `Found ${to.name}` })
	const more = make('div', { class: 'buttons' })
	/** @type {{ node: HTMLElement, update: () => void }[]} */
	let rows = []
	const rowOf = (/** @type {Item} */ item) => {
		const node = make('li'), text = nameOf(to, item)
		/** @type {boolean | null} */
		let state = null
		const update = () => {
			if (state === has(item)) return
			state = has(item)
			const focused = node.contains(document.activeElement)
			node.replaceChildren(make('span', {}, text), state ? make('span', { class: 'faint' }, 'Added')
				: button('Add', () => add(item, node), { 'aria-label': `Add ${text}` }))
			if (focused) (nextButton(node) ?? input).focus()
		}
		update()
		return { node, update }
	}
	let searches = 0
	const find = (/** @type {string} */ after = '') => attempt(node, async () => {
		const mine = ++searches, { items, next, none } = await searchItems(to, input.value.trim(), after)
		if (mine !== searches) return // a later search
		const added = items.map(rowOf), nodes = added.map(row => row.node)
		rows = after ? [...rows, ...added] : added
		if (after) found.append(...nodes)
		else found.replaceChildren(...nodes.length ? nodes : [make('li', { class: 'faint' }, none)])
		more.replaceChildren(...next ? [button(`More found ${to.name}`, () => find(next))] : [])
		const which = added.length === 1 ? noun : titleOf(to.name).toLowerCase()
		report(added.length ? `Found ${added.length} ${which}.` : found.textContent ?? '')
		if (after) (nextButton(nodes[0]) ?? input).focus()
	})
	const node = make('form', {
		class: 'query', role: 'search', 'aria-label': `Add to ${name}`,
		onsubmit: event => { event.preventDefault(); find() },
	}, labelled(`Find a ${noun} to add`, input), make('button', {}, 'Find'), found, more)
	return { node, update() { for (const row of rows) row.update() } }
}

// nextButton returns the button of a row, or of the next row that has one.
/** @type {(row: Element | null | undefined) => HTMLButtonElement | null} */
const nextButton = row => row ? row.querySelector('button') ?? nextButton(row.nextElementSibling) : null

// searchItems returns the items of a resource that a text names: by its search, by a filter of the member
// that names its items, or the id. An empty text names all. none returns the reason if there are no items.
/**
 * @param {Resource} to
 * @param {string} text
 * @param {string} after
 */
async function searchItems(to, text, after) {
	const label = to.fields.find(f => isLabel(to, f))?.name ?? ''
	const op = ['contains', 'startsWith'].find(op => to.filter?.[label]?.includes(op))
	const by = to.search?.length ? 'q' : op && `${label}.${op}`
	const query = new URLSearchParams({ limit: String(Math.min(20, to.maxPageSize)) })
	if (text && by) query.set(by, text)
	if (after) query.set('after', after)
	const withID = after ? null : await itemWithID(to, text)
	/** @type {Item[]} */
	let items = []
	/** @type {string | undefined} */
	let next
	if (can(to, 'list') && (by || !text)) {
		const { value } = await call('GET', `${pathOf(to.name)}?${query}`, { what: `list ${to.name}` })
		items = value?.items ?? []
		next = value?.next
	}
	if (withID) items = [withID, ...items.filter(item => !same(item[to.id], withID[to.id]))]
	const none = by || !text ? `There is no such ${singular(to.name)}.`
		: `No ${singular(to.name)} has this id. They are found by id only.`
	return { items, next, none }
}

// itemWithID returns the item with an id that the user has entered, null if there is none.
/**
 * @param {Resource} to
 * @param {string} text
 */
async function itemWithID(to, text) {
	const isInteger = to.fields.find(f => f.name === to.id)?.type === 'integer'
	const isID = isInteger ? /^-?\d+$/.test(text) : text && !/^\.\.?$/.test(text)
	if (!isID) return null
	try {
		return (await read(to.name, text)).item
	} catch (error) {
		const { status } = /** @type {Failure} */ (error)
		if (![400, 403, 404, 405, 410].includes(status ?? 0)) throw error
		return null
	}
}
