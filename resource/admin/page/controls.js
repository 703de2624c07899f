// Controls for the fields of a form. Each is a Control of types.d.ts.
import { make } from '../../httpbody/page/dom.js'
import { bare, decode, encode, exact } from '../../httpbody/page/jsonvalue.js'
import { button, unique } from './parts.js'
import { same } from './patch.js'
import { singular, textOf, titleOf } from './values.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Control, Field, Item, ValueType } from './types' */

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Input */
/** @typedef {(field: Field, value: any, fresh: boolean, title: string) => Control} MakeControl */

// control returns the control of a field with its stored value, undefined if it is absent. fresh reports
// that the item, or the part that has the field, is new: then the value is the default, and an empty
// control may be a value, such as false. Otherwise a control that the user has not changed reads as the
// stored value, whatever its element can show.
/** @type {(field: Field, value: any, fresh: boolean, title?: string) => Control} */
export function control(field, value, fresh, title = titleOf(field.name)) {
	if (fresh && value === undefined) value = field.default
	switch (field.type) {
	case 'object': return optionalControl(field, value, fresh, title)
	case 'array': return arrayControl(field, value, fresh, title)
	case 'map': case 'any': return jsonControl(field, value, fresh, title)
	}
	return scalarControl(field, value, fresh, title)
}

// inputControl returns a control of one input element with its stored value. read parses the input.
/**
 * @param {Field} field
 * @param {any} value
 * @param {boolean} fresh
 * @param {string} title
 * @param {Input} input
 * @param {() => any} read
 * @returns {Control}
 */
function inputControl(field, value, fresh, title, input, read) {
	input.id = unique('field')
	const hint = hintOf(field), error = make('p', { class: 'wrong', id: input.id + '-error' })
	const hintNode = hint && make('p', { class: 'hint', id: input.id + '-hint' }, hint)
	const describe = (/** @type {boolean} */ wrong) => {
		const ids = [wrong && error.id, hintNode && hintNode.id].filter(Boolean).join(' ')
		if (ids) input.setAttribute('aria-describedby', ids)
		else input.removeAttribute('aria-describedby')
	}
	describe(false)
	const check = input instanceof HTMLInputElement && input.type === 'checkbox' ? input : null
	const state = () => check ? check.checked : input.value, before = state()
	const label = make('label', { for: input.id }, title,
		field.required && !check && make('span', { class: 'faint' }, ' (required)'))
	return {
		node: make('div', { class: check ? 'field check' : 'field' }, check ? [input, label] : [label, input],
			hintNode, error),
		read: () => !fresh && state() === before ? value : read(),
		find() { return this },
		fault(text) {
			error.textContent = text
			if (text) input.setAttribute('aria-invalid', 'true')
			else input.removeAttribute('aria-invalid')
			describe(text !== '')
		},
		focus: () => input.focus(),
	}
}

// hintOf returns the comment and the limits of a field.
/** @param {ValueType} field */
function hintOf(field) {
	const parts = [field.doc]
	if (field.deprecated) parts.push('Deprecated: ' + field.deprecated)
	if (field.format && !field.enum) {
		parts.push(field.format === 'date-time' ? 'Such as 2026-11-26T12:00:00Z.' : `Format ${field.format}.`)
	}
	if (field.minimum || field.maximum) parts.push(range(field.minimum, field.maximum, '') + '.')
	if (field.maxLength) parts.push(range(field.minLength, field.maxLength, ' characters') + '.')
	if (field.maxItems) parts.push(range(field.minItems, field.maxItems, ' entries') + '.')
	if (field.unique && field.type !== 'array') parts.push('Must be unique.')
	return parts.filter(Boolean).join(' ')
}

/** @type {(least: string | number | undefined, most: string | number | undefined, unit: string) => string} */
const range = (least, most, unit) => least && most ? `${least} to ${most}${unit}`
	: most ? `At most ${most}${unit}` : `At least ${least}${unit}`

// scalarControl returns the control of a text, a number, a boolean or one of several values.
/** @type {MakeControl} */
function scalarControl(field, value, fresh, title) {
	if (field.enum) return choiceControl(field, value, fresh, title, field.enum.map(v => [v, textOf(v)]))
	if (field.type === 'boolean') {
		if (field.nullable || typeof value !== 'boolean' && !(fresh && field.required)) {
			return choiceControl(field, value, fresh, title, [[true, 'yes'], [false, 'no']])
		}
		const input = make('input', { type: 'checkbox', checked: value ?? false })
		return inputControl(field, value, fresh, title, input, () => input.checked)
	}
	const text = String(value ?? ''), input = textInput(field, text)
	// A textarea has LF.
	const entered = () => text.includes('\r\n') ? input.value.replace(/\r?\n/g, '\r\n') : input.value
	const it = inputControl(field, value, fresh, title, input, () => {
		if (input.value) return field.type === 'string' ? entered() : numberOf(input.value)
		// Without the member the API would store the zero time, which is in year 1.
		const isDate = field.format?.startsWith('date')
		if (value == null || field.nullable || !field.required || !isDate) return emptyOf(field, value)
		it.fault(`${title} is required.`)
		it.focus()
		throw new Error(`${title} is required.`)
	})
	return it
}

// textInput returns an element for a text or a number.
/**
 * @param {Field} field
 * @param {string} value
 */
function textInput(field, value) {
	const autocomplete = field.writeOnly ? 'new-password' : 'off'
	const maybeLong = (field.maxLength ?? 0) > 200 || value.length > 80
	const long = /[\r\n]/.test(value) || !field.format && maybeLong
	if (field.type === 'string' && !field.writeOnly && long) {
		return make('textarea', { value, autocomplete, rows: 3 })
	}
	const input = make('input', { value, autocomplete })
	if (field.type !== 'string') input.inputMode = field.type === 'integer' ? 'numeric' : 'decimal'
	if (field.writeOnly) input.type = 'password'
	return input
}

// emptyOf returns the value of a control that the user has emptied: a text that cannot be absent or null
// becomes empty.
/**
 * @param {ValueType} field
 * @param {unknown} before
 */
function emptyOf(field, before) {
	if (field.nullable) return before === undefined && !field.required ? undefined : null
	const plain = field.type === 'string' && !field.format && !field.enum && !field.writeOnly
	return plain && (before !== undefined || field.required) ? '' : undefined
}

// numberOf returns the number of a text, and the text itself if it is none: the API reports the mistake.
/** @param {string} text */
function numberOf(text) {
	text = text.trim()
	if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return text
	if (!text.includes('.') && Number.isSafeInteger(Number(text))) return Number(text)
	text = text.replace(/^\+/, '').replace(/^(-?)0*(?=\d)/, '$1')
	return exact(text.replace(/^(-?)\./, '$10.').replace(/\.(?=e|$)/i, ''))
}

// choiceControl returns a list of values. It has an empty entry if the member can be absent or null, and
// an entry for a stored value that is none of those.
/**
 * @param {Field} field
 * @param {any} value
 * @param {boolean} fresh
 * @param {string} title
 * @param {[any, string][]} pairs
 */
function choiceControl(field, value, fresh, title, pairs) {
	if (value != null && !pairs.some(([v]) => same(v, value))) pairs = [...pairs, [value, textOf(value)]]
	const selected = pairs.findIndex(([v]) => same(v, value))
	const hasEmpty = field.nullable || !field.required && field.default === undefined || selected < 0
	const input = make('select', {},
		hasEmpty && make('option', { value: '' }, field.nullable ? 'none' : ''),
		pairs.map(([, text], i) => make('option', { value: String(i), selected: i === selected }, text)))
	return inputControl(field, value, fresh, title, input, () =>
		input.value === '' ? emptyOf(field, value) : pairs[Number(input.value)][0])
}

// jsonControl returns a text with JSON, for values of any form.
/** @type {MakeControl} */
function jsonControl(field, value, fresh, title) {
	const text = value === undefined ? '' : encode(value, '  ')
	const input = make('textarea', { value: text, rows: 4, spellcheck: false, class: 'code' })
	const it = inputControl(field, value, fresh, title + ' as JSON', input, () => {
		if (!input.value.trim()) return emptyOf(field, value)
		try {
			return decode(input.value)
		} catch (error) {
			it.fault('This is not JSON: ' + /** @type {Error} */ (error).message)
			it.focus()
			throw new Error(`${title} is not JSON.`)
		}
	})
	return it
}

// group returns a fieldset, and its place for messages.
/** @type {(title: string, hint?: string, ...children: Children[]) => [HTMLElement, HTMLElement]} */
function group(title, hint, ...children) {
	const error = make('p', { class: 'wrong', role: 'alert' })
	return [make('fieldset', {}, make('legend', {}, title), hint && make('p', { class: 'hint' }, hint), error,
		children), error]
}

// objectControl returns the controls of the members of an object.
/** @type {MakeControl} */
function objectControl(field, value, fresh, title) {
	const fields = (field.fields ?? []).filter(f => !f.readOnly)
	const members = new Map(fields.map(f => [f.name, control(f, value?.[f.name], fresh)]))
	const [node, error] = group(title, field.doc, [...members.values()].map(m => m.node))
	return {
		node,
		read: () => membersOf(members, value),
		find([name, ...rest]) { return members.get(name)?.find(rest) ?? this },
		fault: text => { error.textContent = text },
		focus: () => members.values().next().value?.focus(),
	}
}

// membersOf reads controls into an object. Members without a control, such as readOnly ones, are kept.
/**
 * @param {Map<string, Control>} members
 * @param {Item | null | undefined} before
 */
export function membersOf(members, before) {
	/** @type {Item} */
	const out = bare({})
	for (const [name, v] of Object.entries(before ?? {})) if (!members.has(name)) out[name] = v
	for (const [name, member] of members) {
		const v = member.read()
		if (v !== undefined) out[name] = v
	}
	return out
}

// optionalControl returns the control of an object, with a button that adds or removes it unless it is
// required.
/** @type {MakeControl} */
function optionalControl(field, value, fresh, title) {
	if (field.required && fresh || value && !field.nullable) return objectControl(field, value, fresh, title)
	/** @type {Control | null} */
	let inner = null
	const place = make('div'), error = make('p', { class: 'wrong', role: 'alert' })
	const focusButton = () => place.querySelector('button')?.focus()
	const remove = () => {
		inner = null
		render()
		focusButton()
	}
	const add = () => {
		inner = objectControl(field, undefined, true, title)
		render()
		inner.focus()
	}
	const render = () => place.replaceChildren(...inner
		? [inner.node, button(`Remove ${title.toLowerCase()}`, remove)]
		: [button(`Add ${title.toLowerCase()}`, add)])
	if (value) inner = objectControl(field, value, fresh, title)
	render()
	return {
		node: make('div', { class: 'field' }, make('p', { class: 'label' }, title), place, error),
		read: () => inner ? inner.read() : value === undefined ? undefined : null,
		find(path) { return inner?.find(path) ?? this },
		fault(text) {
			if (inner) inner.fault(text)
			else error.textContent = text
		},
		focus: () => inner ? inner.focus() : focusButton(),
	}
}

// arrayControl returns the controls of the elements of an array, with buttons that add and remove one.
/** @type {MakeControl} */
function arrayControl(field, value, fresh, title) {
	const noun = singular(title.toLowerCase()), list = make('div', { class: 'elements' })
	/** @type {{ inner: Control, box: HTMLElement }[]} */
	const elements = []
	const capital = noun.charAt(0).toUpperCase() + noun.slice(1)
	const nameOfElement = (/** @type {number} */ i) => `${capital} ${i + 1}`
	const add = button(`Add ${noun}`, () => { append(undefined, true).focus() })
	const append = (/** @type {any} */ v, /** @type {boolean} */ isNew) => {
		const element = { type: 'any', ...field.items, name: noun, required: true }
		const inner = control(element, v, isNew, nameOfElement(elements.length))
		const box = make('div', { class: 'element' }, inner.node, button('Remove', () => {
			elements.splice(elements.findIndex(e => e.box === box), 1)
			box.remove()
			renumber()
			add.focus()
		}))
		elements.push({ inner, box })
		list.append(box)
		renumber()
		return inner
	}
	// renumber gives each element the number that it has now, so that buttons and errors name the right one.
	const renumber = () => elements.forEach(({ box }, i) => {
		const name = box.querySelector('legend, label, .label')
		if (name?.firstChild) name.firstChild.textContent = nameOfElement(i)
		box.lastElementChild?.setAttribute('aria-label', `Remove ${nameOfElement(i).toLowerCase()}`)
	})
	for (const v of value ?? []) append(v, fresh)
	if (!value && fresh && field.required) {
		for (let i = 0; i < (field.minItems ?? 0); i++) append(undefined, true)
	}
	const [node, error] = group(title, hintOf(field), list, add)
	return {
		node,
		read: () => elements.length || value || fresh && field.required
			? elements.map(e => e.inner.read() ?? null) : value,
		find([index, ...rest]) {
			return elements.find((_, i) => String(i) === index)?.inner.find(rest) ?? this
		},
		fault: text => { error.textContent = text },
		focus: () => (elements[0]?.inner ?? add).focus(),
	}
}
