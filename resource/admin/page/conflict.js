// A conflict: the item was changed after the user had read it (412). The values of the user are shown
// beside the current ones. The user chooses for each field, and the choice is saved under the condition
// of the current tag.
import { make, report } from '../../httpbody/page/dom.js'
import { bare, isObject } from '../../httpbody/page/jsonvalue.js'
import { read } from './api.js'
import { openDialog, unique } from './parts.js'
import { changes, same } from './patch.js'
import { singular, textOf, titleOf } from './values.js'
/** @import { Item, Resource, ValueType } from './types' */

/** @typedef {{ name: string, node: HTMLElement, isMine: () => boolean }} Choice of a field */

// resolveConflict asks the user and resolves to the current item with its tag, and to the item to save in
// mine: null if the user does not want to save any more. before is the item as the user had read it, mine
// the item as the user wants it.
/**
 * @param {Resource} resource
 * @param {string} id
 * @param {Item} before
 * @param {Item} mine
 */
export async function resolveConflict(resource, id, before, mine) {
	const current = await read(resource.name, id)
	const names = Object.keys(changes(before, mine))
	const theirs = Object.keys(changes(before, current.item)).filter(n => n !== resource.id)
	const chosen = await chooseFields(resource, current.item, mine, names, theirs)
	/** @type {Item | null} */
	const next = chosen &&
		bare({ ...current.item, ...Object.fromEntries(chosen.map(n => [n, mine[n]])) })
	return { ...current, mine: next }
}

// masked returns a value without the secrets in it.
/** @type {(field: ValueType | undefined, value: any) => any} */
function masked(field, value) {
	if (field?.writeOnly) return '(not shown)'
	if (Array.isArray(value)) return value.map(v => masked(field?.items, v))
	if (!isObject(value) || !field?.fields) return value
	const { fields } = field
	const typeOf = (/** @type {string} */ name) => fields.find(f => f.name === name)
	return Object.fromEntries(Object.entries(value).map(([n, v]) => [n, masked(typeOf(n), v)]))
}

// choiceOf returns the row of a field with the values of the user and of the current item.
/** @type {(resource: Resource, name: string, current: Item, mine: Item, both: boolean) => Choice} */
function choiceOf(resource, name, current, mine, both) {
	const id = unique('choice'), field = resource.fields.find(f => f.name === name)
	const side = (/** @type {Item} */ item, /** @type {string} */ text, /** @type {string} */ value) => {
		const checked = value === 'mine'
		return make('td', {}, make('label', { class: 'side' },
			make('input', { type: 'radio', name: id, value, checked, 'aria-describedby': id }),
			make('span', {}, make('span', { class: 'faint' }, text),
				make('span', { class: 'value' }, textOf(masked(field, item[name])) || '(none)'))))
	}
	const mark = both && make('span', { class: 'mark' }, 'changed by both')
	const node = make('tr', {}, make('th', { scope: 'row', id }, titleOf(name), mark),
		side(mine, 'Yours', 'mine'), side(current, 'Current', 'theirs'))
	return { name, node, isMine: () => node.querySelector('input')?.checked ?? false }
}

// chooseFields shows the dialog. It resolves to the names of the fields that are saved with the value of
// the user, or to null. names are the fields that the user has changed, and theirs the others' changes.
/**
 * @param {Resource} resource
 * @param {Item} current
 * @param {Item} mine
 * @param {string[]} names
 * @param {string[]} theirs
 */
async function chooseFields(resource, current, mine, names, theirs) {
	const rows = names.map(n =>
		choiceOf(resource, n, current, mine, theirs.includes(n) && !same(mine[n], current[n])))
	const others = theirs.filter(n => !names.includes(n))
		.map(n => `${titleOf(n)} is now ${textOf(current[n]) || 'absent'}`)
	const id = unique('title')
	const head = ['Field', 'Your value', 'Current value'].map(t => make('th', { scope: 'col' }, t))
	const table = make('table', {}, make('thead', {}, make('tr', {}, head)),
		make('tbody', {}, rows.map(r => r.node)))
	const form = make('form', { method: 'dialog' },
		make('h2', { id }, `This ${singular(resource.name)} was changed in the meantime`),
		make('p', {}, 'Nothing was saved. Choose a value for each field that you have changed.'),
		make('div', { class: 'scroll' }, table),
		others.length > 0 && make('p', { class: 'faint' }, `Also changed, and kept: ${others.join('; ')}.`),
		make('menu', {}, make('button', { class: 'main', value: 'save' }, 'Save the choice'),
			make('button', { value: '' }, 'Keep the current values')))
	const saves = openDialog(make('dialog', { class: 'conflict', 'aria-labelledby': id }, form), 'save')
	report('The item was changed in the meantime. Choose the values to save.')
	return await saves ? rows.filter(r => r.isMine()).map(r => r.name) : null
}
