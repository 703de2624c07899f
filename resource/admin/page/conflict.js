// A conflict: the item was changed after the user had read it (412). The values of the user are shown beside the current
// ones. The user chooses for each field, and the choice is saved under the condition of the current tag.

// resolveConflict asks the user and resolves to the current item with its tag, and to the item to save in mine: null if the
// user does not want to save any more. before is the item as the user had read it, mine the item as the user wants it.
async function resolveConflict(resource, id, before, mine) {
	const current = await read(resource.name, id)
	const patch = changes(before, mine), names = Object.keys(patch)
	const theirs = Object.keys(changes(before, current.item)).filter(n => n !== resource.id)
	const conflicts = names.filter(n => theirs.includes(n) && !same(mine[n], current.item[n]))
	const chosen = await chooseFields(resource, current.item, mine, names, theirs, conflicts)
	return { ...current, mine: chosen && bare({ ...current.item, ...Object.fromEntries(chosen.map(n => [n, mine[n]])) }) }
}

// masked returns a value without the secrets in it.
function masked(field, value) {
	if (field?.writeOnly) return '(not shown)'
	if (Array.isArray(value)) return value.map(v => masked(field?.items, v))
	if (!isObject(value) || !field?.fields) return value
	return Object.fromEntries(Object.entries(value).map(([n, v]) => [n, masked(field.fields.find(f => f.name === n), v)]))
}

// chooseFields shows the dialog. It resolves to the names of the fields for which the user's value is saved, or to null.
function chooseFields(resource, current, mine, names, theirs, conflicts) {
	const rows = names.map(name => {
		const row = unique('choice'), both = conflicts.includes(name), field = resource.fields.find(f => f.name === name)
		const side = (value, text, which, checked) => make('td', {}, make('label', { class: 'side' },
			make('input', { type: 'radio', name: row, value: which, checked, 'aria-describedby': row }),
			make('span', {}, make('span', { class: 'faint' }, text), make('span', { class: 'value' }, textOf(masked(field, value)) || '(none)'))))
		const node = make('tr', {}, make('th', { scope: 'row', id: row }, titleOf(name), both && make('span', { class: 'mark' }, 'changed by both')),
			side(mine[name], 'Yours', 'mine', true), side(current[name], 'Current', 'theirs', false))
		return { name, node, isMine: () => node.querySelector('input:checked').value === 'mine' }
	})
	const others = theirs.filter(n => !names.includes(n))
	const heading = unique('title')
	const dialog = make('dialog', { class: 'conflict', 'aria-labelledby': heading }, make('form', { method: 'dialog' },
		make('h2', { id: heading }, `This ${singular(resource.name)} was changed in the meantime`),
		make('p', {}, 'Nothing was saved. Choose a value for each field that you have changed.'),
		make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {},
			['Field', 'Your value', 'Current value'].map(t => make('th', { scope: 'col' }, t)))), make('tbody', {}, rows.map(r => r.node)))),
		others.length > 0 && make('p', { class: 'faint' }, 'Also changed, and kept: ' + others.map(n => `${titleOf(n)} is now ${textOf(current[n]) || 'absent'}`).join('; ') + '.'),
		make('menu', {}, make('button', { class: 'main', value: 'save' }, 'Save the choice'),
			make('button', { value: '' }, 'Keep the current values'))))
	document.body.append(dialog)
	dialog.showModal()
	report('The item was changed in the meantime. Choose the values to save.')
	return new Promise(done => dialog.addEventListener('close', () => {
		dialog.remove()
		done(dialog.returnValue === 'save' ? rows.filter(r => r.isMine()).map(r => r.name) : null)
	}))
}

