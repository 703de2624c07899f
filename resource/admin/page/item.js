// An item: its form, its read-only members, its relations, and deleting and restoring it.
import { make, report } from '../../httpbody/page/dom.js'
import { decode } from '../../httpbody/page/jsonvalue.js'
import { call, conditional, read } from './api.js'
import { can, pathOf, resourceNamed } from './catalog.js'
import { resolveConflict } from './conflict.js'
import { itemForm, writable } from './form.js'
import { loadMany } from './links.js'
import { leave, mayLeave } from './navigate.js'
import { fail, notice } from './notice.js'
import { address, button, confirmed, heading, isShown, link } from './parts.js'
import { patchOf, same } from './patch.js'
import { follow } from './stream.js'
import { relationOf, shown, singular, textOf, titleOf } from './values.js'
/** @import { Attempt, Failure, Form, Item, Read, Resource, View } from './types' */

// newView returns the view that creates an item.
/**
 * @param {Resource} resource
 * @returns {Promise<View>}
 */
export async function newView(resource) {
	const noun = singular(resource.name)
	const cancel = make('a', { class: 'button', href: address('list', resource.name) }, 'Cancel')
	/** @type {Form} */
	const form = itemForm(resource, null, `Create ${noun}`, async (value, attempt) => {
		const answer = await call('POST', pathOf(resource.name), { what: `create ${noun}`, value, attempt })
		const id = answer.value[resource.id]
		leave(form.node, address('item', resource.name, id), `Created ${noun} ${textOf(id)}.`)
	}, cancel)
	const node = make('div', {}, backTo(resource), heading(`New ${noun}`), form.node)
	return { node, focus: form.focus, dirty: form.dirty }
}

// backTo returns a link to the list of a resource.
/** @param {Resource} resource */
export const backTo = resource =>
	make('p', { class: 'crumbs' }, link(titleOf(resource.name), 'list', resource.name))

// itemView returns the view of an item. It is a form if the API offers to change the item.
/**
 * @param {Resource} resource
 * @param {string} id
 * @returns {Promise<View>}
 */
export async function itemView(resource, id) {
	/** @type {Read} */
	let at
	try {
		at = await read(resource.name, id)
	} catch (error) {
		if (/** @type {Failure} */ (error).status !== 410 || !can(resource, 'restore')) throw error
		return deletedView(resource, id)
	}
	const page = new ItemPage(resource, id, at), { signal } = page.left
	page.render()
	if (can(resource, 'watch')) page.watch(at.cursor)
	loadMany(resource, id, page.node, signal).catch(fail)
	return { node: page.node, dirty: () => page.isDirty(), end: () => page.left.abort() }
}

// ItemPage is the content of the view of an item.
class ItemPage {
	left = new AbortController() // is aborted when the view is left or the item was deleted
	/** @type {Form | null} */
	form = null
	/** @type {Promise<unknown> | null} */
	writing = null // the last write
	/** @type {Item | null} */
	last = null // the item of the last event
	banner = make('p', { class: 'fresh', hidden: true })
	place = make('div')

	/**
	 * @param {Resource} resource
	 * @param {string} id
	 * @param {Read} at the item with its tag
	 */
	constructor(resource, id, at) {
		this.resource = resource
		this.id = id
		this.at = at
		this.noun = singular(resource.name)
		this.title = `${titleOf(this.noun)} ${textOf(at.item[resource.id])}`
		this.node = make('div', {}, backTo(resource), heading(this.title), this.banner, this.place)
	}

	isDirty() { return this.form?.dirty() }

	// render shows the item. It returns the form.
	render() {
		const { resource, at } = this, patches = can(resource, 'patch')
		const inForm = patches ? writable(resource, false) : []
		const fixed = resource.fields.filter(f => !f.writeOnly && !inForm.includes(f)).map(f => {
			const value = shown(f, at.item[f.name], relationOf(resource, f))
			return [make('dt', {}, titleOf(f.name)), make('dd', {}, value)]
		})
		const remove = can(resource, 'delete') && button('Delete', event =>
			this.writing = this.remove(event.currentTarget), { class: 'danger' })
		this.form = patches ? itemForm(resource, at.item, 'Save', (mine, attempt) =>
			this.writing = this.save(mine, attempt), remove) : null
		this.banner.hidden = true
		this.place.replaceChildren(...[
			fixed.length > 0 && make('dl', { class: 'fixed' }, fixed),
			this.form?.node ?? (remove && make('div', { class: 'buttons' }, remove)),
			linksOf(resource, at.item),
		].filter(x => !!x))
		return this.form
	}

	// save patches the item. If it was changed after the user had read it, the user resolves the conflict.
	/**
	 * @param {Item} mine
	 * @param {Attempt} attempt
	 */
	async save(mine, attempt) {
		for (let base = this.at; ;) {
			const patch = patchOf(base.item, mine)
			if (!patch) {
				this.at = base
				this.render()
				return notice('There is nothing to save: the values are the current ones.', 'good')
			}
			try {
				await this.patch(patch, base.tag, attempt)
				break
			} catch (error) {
				if (/** @type {Failure} */ (error).status !== 412) throw error
				if (!isShown(this.node)) {
					throw new Error(`${this.title} was not saved, because it was changed in the meantime.`)
				}
				const next = await resolveConflict(this.resource, this.id, base.item, mine)
				if (!next.mine) {
					this.at = next
					this.render()?.focus()
					return notice('Nothing was saved. The form has the current values.', 'good')
				}
				base = next
				mine = next.mine
			}
		}
		this.render()
		const submit = /** @type {HTMLElement | null} */ (this.place.querySelector('form .main'))
		submit?.focus()
		notice(isShown(this.node) ? 'Saved.' : `Saved ${this.title}.`, 'good')
	}

	// patch sends a patch under the condition that the item has a tag.
	/**
	 * @param {{ value: unknown, type: string }} patch
	 * @param {string | null} tag
	 * @param {Attempt} attempt
	 */
	async patch(patch, tag, attempt) {
		const { value, headers } = await call('PATCH', pathOf(this.resource.name, this.id), {
			what: `change this ${this.noun}`, ...patch, headers: conditional(tag), attempt,
		})
		this.at = { item: value, tag: headers.get('ETag') }
	}

	// reload shows the current values. It asks first whether changes that are not saved can be lost.
	async reload() {
		if (!await mayLeave(() => !!this.isDirty())) return
		this.at = await read(this.resource.name, this.id)
		notice('')
		;(this.render() ?? this.node.querySelector('h1'))?.focus()
	}

	reloadButton() { return button('Show the current values', () => this.reload()) }

	// remove deletes the item after a confirmation, under the condition that it is the one that the user has
	// read. It aborts left, so that its event is not reported.
	/** @param {HTMLElement} from */
	async remove(from) {
		const { resource, id, noun } = this, name = `${titleOf(noun)} ${id}`, { tag } = this.at
		if (!await confirmed(`Delete this ${noun}?`, `${name} will be deleted.`, 'Delete')) return
		try {
			const what = `delete this ${noun}`
			await call('DELETE', pathOf(resource.name, id), { what, headers: conditional(tag) })
		} catch (error) {
			if (/** @type {Failure} */ (error).status !== 412) throw error
			return notice(`${name} was changed after you opened it, and was not deleted. ` +
				'Show the current values first.', 'error', isShown(from) && this.reloadButton())
		}
		this.left.abort()
		const message = `Deleted ${noun} ${id}.`
		leave(from, address('list', resource.name), message, restoreButton(resource, id))
	}

	// watch reports that the item was changed or deleted elsewhere after a position of the feed, until left
	// is aborted. The values of the form stay as they are.
	/** @param {string | null | undefined} cursor */
	watch(cursor) {
		const { name } = this.resource, { signal } = this.left
		const readAgain = async () => {
			const { item, cursor } = await read(name, this.id, { signal })
			this.changed('updated', item)
			this.watch(cursor)
		}
		signal.addEventListener('abort', follow(pathOf(name, this.id), cursor, {
			event: ({ type, data }) => this.changed(type, decode(data)),
			state(now) {
				if (now === 'expired') readAgain().catch(fail)
			},
		}))
	}

	// changed shows that an event has another item than the write in flight, if there is one. The last of the
	// events that wait for the write counts.
	/**
	 * @param {string} type
	 * @param {Item} item
	 */
	async changed(type, item) {
		const { banner, left } = this, gone = type === 'deleted'
		this.last = item
		await Promise.resolve(this.writing).catch(() => {})
		if (this.last !== item || left.signal.aborted) return
		banner.hidden = !gone && same(item, this.at.item)
		if (banner.hidden) return
		const text = `This ${this.noun} was ${gone ? 'deleted' : 'changed'} elsewhere. `
		banner.replaceChildren(text, gone ? '' : this.reloadButton())
		report(text)
	}
}

// linksOf returns links to the related items with ids in members of the item.
/**
 * @param {Resource} resource
 * @param {Item} item
 */
function linksOf(resource, item) {
	const links = (resource.relations ?? []).map(({ name, target, many, field }) => {
		const id = field ? item[field] : null
		if (many || id == null || !resourceNamed(target)) return null
		const text = `${titleOf(singular(target))} ${textOf(id)}`
		return make('li', {}, titleOf(name) + ': ', link(text, 'item', target, id))
	}).filter(x => !!x)
	return links.length > 0 &&
		make('section', { class: 'related' }, make('h2', {}, 'Related'), make('ul', {}, links))
}

// deletedView returns the view of a deleted item that can be restored. The API has no list of deleted items.
/**
 * @param {Resource} resource
 * @param {string} id
 */
function deletedView(resource, id) {
	const noun = singular(resource.name)
	return {
		node: make('div', {}, backTo(resource), heading(`${titleOf(noun)} ${id}`),
			make('p', {}, `This ${noun} was deleted.`),
			make('div', { class: 'buttons' }, restoreButton(resource, id))),
	}
}

// restoreButton returns a button that restores a deleted item and shows it, or null if the API does not
// offer that.
/**
 * @param {Resource} resource
 * @param {string} id
 */
function restoreButton(resource, id) {
	if (!can(resource, 'restore')) return null
	const noun = singular(resource.name), path = pathOf(resource.name, id) + '/restore'
	/** @type {Attempt} */
	const attempt = {}
	return button('Restore', async ({ currentTarget }) => {
		await call('POST', path, { what: `restore this ${noun}`, attempt })
		leave(currentTarget, address('item', resource.name, id), `Restored ${noun} ${id}.`)
	})
}
