// The form of an item: the fields that a client can write.
import { make, report } from '../../httpbody/page/dom.js'
import { encode } from '../../httpbody/page/jsonvalue.js'
import { control, membersOf } from './controls.js'
import { fail, notice } from './notice.js'
import { isShown } from './parts.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Attempt, Control, Failure, Field, Form, Item, Problem, Resource } from './types' */

/** @typedef {Pick<Resource, 'fields'> & Partial<Resource>} Fields a resource, or the input of a command */

// writable returns the fields that the form of an item has.
/**
 * @param {Fields} resource
 * @param {boolean} creating
 */
export const writable = (resource, creating) => resource.fields.filter(f =>
	!f.readOnly && (f.name !== resource.id || creating && resource.takesIds))

// itemForm returns a form for an item, empty for a new one. save is called with the item when it is
// submitted, and with the memory that call needs to repeat a write.
/**
 * @param {Fields} resource
 * @param {Item | null} item
 * @param {string} label
 * @param {(value: Item, attempt: Attempt) => Promise<unknown>} save
 * @param {...Children} buttons
 * @returns {Form}
 */
export function itemForm(resource, item, label, save, ...buttons) {
	const creating = !item
	const controlOf = (/** @type {Field} */ f) => {
		const isAssigned = f.name === resource.id && resource.assignsIds
		return control(isAssigned ? { ...f, required: false } : f, item?.[f.name], creating)
	}
	const controls = new Map(writable(resource, creating).map(f => [f.name, controlOf(f)]))
	const read = () => membersOf(controls, item)
	/** @type {Attempt} */
	const attempt = {}
	const submit = make('button', { class: 'main' }, label)
	const all = make('fieldset', { class: 'all' }, [...controls.values()].map(c => c.node),
		make('div', { class: 'buttons' }, submit, buttons))
	let before = encode(read())
	const node = make('form', {
		class: 'item', noValidate: true, 'aria-label': label,
		onsubmit: async event => {
			event.preventDefault()
			clearFaults(node)
			const focused = /** @type {HTMLElement} */ (document.activeElement)
			/** @type {Failure | null} */
			let failure = null
			try {
				const value = read()
				all.disabled = true
				await save(value, attempt)
				before = encode(value)
			} catch (error) {
				failure = /** @type {Failure} */ (error)
			}
			all.disabled = false
			if (!failure) return
			const { message, status, problem } = failure
			if (!isShown(node) && status !== 401) return fail(new Error(`${label}: ${message}`))
			if (document.activeElement === document.body) focused.focus()
			if (status === 401 || !showErrors(controls, problem)) fail(failure)
		},
	}, all)
	const dirty = () => {
		try {
			return encode(read()) !== before
		} catch {
			return true // a text is not JSON
		}
	}
	return { node, dirty, focus: () => controls.values().next().value?.focus() }
}

// clearFaults removes the messages of the last submission.
/** @param {HTMLFormElement} form */
function clearFaults(form) {
	notice('')
	for (const wrong of form.querySelectorAll('.wrong')) wrong.textContent = ''
	for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
}

// showErrors shows each error of a problem at the field that its JSON Pointer (RFC 6901) names, and the
// others above the form. It returns false if the problem has none.
/**
 * @param {Map<string, Control>} controls
 * @param {Problem | null | undefined} problem
 */
function showErrors(controls, problem) {
	if (!problem?.errors?.length) return false
	const others = []
	let first = null
	for (const { pointer, detail, code } of problem.errors) {
		const [name, ...path] = (pointer ?? '').slice(1).split('/')
			.map(s => s.replaceAll('~1', '/').replaceAll('~0', '~'))
		const found = controls.get(name)?.find(path)
		if (!found) {
			others.push(make('li', {}, detail ?? `${pointer}: ${code}`))
			continue
		}
		found.fault(detail ?? code ?? '')
		first ??= found
	}
	const count = problem.errors.length
	notice(problem.detail ?? problem.title ?? '', 'error', others.length > 0 && make('ul', {}, others))
	report(`${count === 1 ? 'One field is' : count + ' fields are'} not valid.`)
	first?.focus()
	return true
}
