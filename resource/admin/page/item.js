// An item: its form, its read-only members, its relations, and deleting and restoring it.

// newView returns the view that creates an item.
async function newView(resource) {
	const noun = singular(resource.name)
	const form = itemForm(resource, null, `Create ${noun}`, async (value, attempt) => {
		const { value: made } = await call('POST', pathOf(resource.name), { what: `create ${noun}`, value, attempt })
		leave(form.node, address('item', resource.name, made[resource.id]), `Created ${noun} ${textOf(made[resource.id])}.`)
	}, make('a', { class: 'button', href: address('list', resource.name) }, 'Cancel'))
	return { node: make('div', {}, backTo(resource), make('h1', { tabIndex: -1 }, `New ${noun}`), form.node), focus: form.focus, dirty: form.dirty }
}

const backTo = resource => make('p', { class: 'crumbs' }, link(titleOf(resource.name), 'list', resource.name))

// itemView returns the view of an item. It is a form if the API offers to change the item.
async function itemView(resource, id) {
	const noun = singular(resource.name), place = make('div'), left = new AbortController()
	let at, form = null, writing = null
	try {
		at = await read(resource.name, id)
	} catch (error) {
		if (error.status !== 410 || !can(resource, 'restore')) throw error
		return deletedView(resource, id)
	}
	const title = `${titleOf(noun)} ${textOf(at.item[resource.id])}`
	const banner = make('p', { class: 'fresh', hidden: true })
	const render = () => {
		const fixed = resource.fields.filter(f => !f.writeOnly && (!can(resource, 'patch') || !writable(resource, false).includes(f)))
		const remove = can(resource, 'delete') && button('Delete', event => writing = removeItem(resource, id, at.tag, event.currentTarget, left, reload), { class: 'danger' })
		form = can(resource, 'patch') ? itemForm(resource, at.item, 'Save', (...all) => writing = save(...all), remove) : null
		banner.hidden = true
		place.replaceChildren(...[
			fixed.length > 0 && make('dl', { class: 'fixed' }, fixed.flatMap(f => [make('dt', {}, titleOf(f.name)), make('dd', {}, shown(f, at.item[f.name], relationOf(resource, f)))])),
			form ? form.node : remove && make('div', { class: 'buttons' }, remove), linksOf(resource, at.item),
		].filter(Boolean))
		return form
	}
	const save = async (mine, attempt) => {
		for (let base = at; ;) {
			const patch = patchOf(base.item, mine)
			if (!patch) {
				at = base
				render()
				return notice('There is nothing to save: the values are the current ones.', 'good')
			}
			try {
				const { value, headers } = await call('PATCH', pathOf(resource.name, id), { what: `change this ${noun}`, ...patch, headers: conditional(base.tag), attempt })
				at = { item: value, tag: headers.get('ETag') }
				break
			} catch (error) {
				if (error.status !== 412) throw error
				if (!isShown(node)) throw new Error(`${title} was not saved, because it was changed in the meantime.`)
				const next = await resolveConflict(resource, id, base.item, mine)
				if (!next.mine) {
					at = next
					render()?.focus()
					return notice('Nothing was saved. The form has the current values.', 'good')
				}
				base = next
				mine = next.mine
			}
		}
		render()
		place.querySelector('form .main')?.focus()
		notice(isShown(node) ? 'Saved.' : `Saved ${title}.`, 'good')
	}
	const node = make('div', {}, backTo(resource), make('h1', { tabIndex: -1 }, title), banner, place)
	render()
	const dirty = () => form?.dirty()
	const reload = async () => {
		if (!await mayLeave(dirty)) return
		at = await read(resource.name, id)
		notice('')
		;(render() ?? node.querySelector('h1')).focus()
	}
	const settled = async () => { await Promise.resolve(writing).catch(() => {}); return at }
	if (can(resource, 'watch')) watchItem(resource, id, at.cursor, settled, banner, reload, left.signal)
	loadMany(resource, id, node, left.signal).catch(fail)
	return { node, dirty, end: () => left.abort() }
}

// watchItem reports that an item was changed or deleted elsewhere, until signal is aborted. The values of the form stay as
// they are. settled resolves to the item as it is after the write in flight. The last of the events that wait for it counts.
function watchItem(resource, id, cursor, settled, banner, reload, signal) {
	let last
	const changed = async (type, item) => {
		last = item
		const gone = type === 'deleted', at = await settled()
		if (last !== item || signal.aborted) return
		banner.hidden = !gone && same(item, at.item)
		if (banner.hidden) return
		const text = `This ${singular(resource.name)} was ${gone ? 'deleted' : 'changed'} elsewhere. `
		banner.replaceChildren(text, gone ? '' : button('Show the current values', reload))
		report(text)
	}
	const start = cursor => signal.addEventListener('abort', follow(pathOf(resource.name, id), cursor, {
		event: ({ type, data }) => changed(type, decode(data)),
		state(now) {
			if (now === 'expired') read(resource.name, id, { signal }).then(({ item, cursor }) => {
				changed('updated', item)
				start(cursor)
			}).catch(fail)
		},
	}))
	start(cursor)
}

// linksOf returns links to the related items with ids in members of the item.
function linksOf(resource, item) {
	const links = (resource.relations ?? []).filter(r => !r.many && r.field && item[r.field] != null && resourceNamed(r.target))
	return links.length > 0 && make('section', { class: 'related' }, make('h2', {}, 'Related'),
		make('ul', {}, links.map(r => make('li', {}, titleOf(r.name) + ': ', link(`${titleOf(singular(r.target))} ${textOf(item[r.field])}`, 'item', r.target, item[r.field])))))
}

// removeItem deletes an item after a confirmation, under the condition that it is the one that the user has read. It
// aborts left, so that its event is not reported. reload shows the current values.
async function removeItem(resource, id, tag, from, left, reload) {
	const noun = singular(resource.name)
	if (!await confirmed(`Delete this ${noun}?`, `${titleOf(noun)} ${id} will be deleted.`, 'Delete')) return
	try {
		await call('DELETE', pathOf(resource.name, id), { what: `delete this ${noun}`, headers: conditional(tag) })
	} catch (error) {
		if (error.status !== 412) throw error
		return notice(`${titleOf(noun)} ${id} was changed after you opened it, and was not deleted. Show the current values first.`,
			'error', isShown(from) && button('Show the current values', reload))
	}
	left.abort()
	leave(from, address('list', resource.name), `Deleted ${noun} ${id}.`, restoreButton(resource, id))
}

// deletedView returns the view of a deleted item that can be restored. The API has no list of deleted items.
function deletedView(resource, id) {
	const noun = singular(resource.name)
	return { node: make('div', {}, backTo(resource), make('h1', { tabIndex: -1 }, `${titleOf(noun)} ${id}`),
		make('p', {}, `This ${noun} was deleted.`), make('div', { class: 'buttons' }, restoreButton(resource, id))) }
}

// restoreButton returns a button that restores a deleted item and shows it, or null if the API does not offer that.
function restoreButton(resource, id) {
	if (!can(resource, 'restore')) return null
	const noun = singular(resource.name), attempt = {}
	return button('Restore', async ({ currentTarget }) => {
		await call('POST', pathOf(resource.name, id) + '/restore', { what: `restore this ${noun}`, attempt })
		leave(currentTarget, address('item', resource.name, id), `Restored ${noun} ${id}.`)
	})
}

