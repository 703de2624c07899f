// Controls for the fields of a form. A control has
//
//	node     its element
//	read     returns the value; undefined if the member is absent
//	find     returns the control at a path of member names and indexes, or the closest one around it
//	fault    shows a message at the control; empty removes it
//	focus    moves the focus into it

// control returns the control of a field with its stored value, undefined if it is absent. fresh reports that the item, or
// the part that has the field, is new: then the value is the default, and an empty control may be a value, such as false.
// Otherwise a control that the user has not changed reads as the stored value, whatever its element can show.
function control(field, value, fresh, title = titleOf(field.name)) {
	if (fresh && value === undefined) value = field.default
	switch (field.type) {
	case 'object': return optionalControl(field, value, fresh, title)
	case 'array': return arrayControl(field, value, fresh, title)
	case 'map': case 'any': return jsonControl(field, value, fresh, title)
	}
	return scalarControl(field, value, fresh, title)
}

// inputControl returns a control of one input element with its stored value. read parses what the user has entered.
function inputControl(field, value, fresh, title, input, read) {
	input.id = unique('field')
	const hint = hintOf(field), error = make('p', { class: 'wrong', id: input.id + '-error' })
	const hintNode = hint && make('p', { class: 'hint', id: input.id + '-hint' }, hint)
	const describe = wrong => {
		const ids = [wrong && error.id, hintNode && hintNode.id].filter(Boolean).join(' ')
		ids ? input.setAttribute('aria-describedby', ids) : input.removeAttribute('aria-describedby')
	}
	describe(false)
	const check = input.type === 'checkbox', state = () => check ? input.checked : input.value, before = state()
	const label = make('label', { for: input.id }, title, field.required && !check && make('span', { class: 'faint' }, ' (required)'))
	return {
		node: make('div', { class: check ? 'field check' : 'field' }, check ? [input, label] : [label, input], hintNode, error),
		read: () => !fresh && state() === before ? value : read(),
		find() { return this },
		fault(text) {
			error.textContent = text
			text ? input.setAttribute('aria-invalid', 'true') : input.removeAttribute('aria-invalid')
			describe(text)
		},
		focus: () => input.focus(),
	}
}

// hintOf returns the comment and the limits of a field.
function hintOf(field) {
	const parts = [field.doc]
	if (field.deprecated) parts.push('Deprecated: ' + field.deprecated)
	if (field.format && !field.enum) parts.push(field.format === 'date-time' ? 'Such as 2026-11-26T12:00:00Z.' : `Format ${field.format}.`)
	if (field.minimum || field.maximum) parts.push(range(field.minimum, field.maximum, '') + '.')
	if (field.maxLength) parts.push(range(field.minLength, field.maxLength, ' characters') + '.')
	if (field.maxItems) parts.push(range(field.minItems, field.maxItems, ' entries') + '.')
	if (field.unique && field.type !== 'array') parts.push('Must be unique.')
	return parts.filter(Boolean).join(' ')
}

const range = (least, most, unit) => least && most ? `${least} to ${most}${unit}` : most ? `At most ${most}${unit}` : `At least ${least}${unit}`

// scalarControl returns the control of a text, a number, a boolean or one of several values.
function scalarControl(field, value, fresh, title) {
	if (field.enum) return choiceControl(field, value, fresh, title, field.enum.map(v => [v, textOf(v)]))
	if (field.type === 'boolean') {
		if (field.nullable || typeof value !== 'boolean' && !(fresh && field.required)) {
			return choiceControl(field, value, fresh, title, [[true, 'yes'], [false, 'no']])
		}
		const input = make('input', { type: 'checkbox', checked: value ?? false })
		return inputControl(field, value, fresh, title, input, () => input.checked)
	}
	const text = String(value ?? '')
	const long = field.type === 'string' && !field.writeOnly && (/[\r\n]/.test(text) || !field.format && (field.maxLength > 200 || text.length > 80))
	const input = make(long ? 'textarea' : 'input', { value: text, autocomplete: field.writeOnly ? 'new-password' : 'off', rows: 3 })
	if (field.type !== 'string') input.inputMode = field.type === 'integer' ? 'numeric' : 'decimal'
	if (field.writeOnly) input.type = 'password'
	const entered = () => text.includes('\r\n') ? input.value.replace(/\r?\n/g, '\r\n') : input.value // a textarea has LF
	const it = inputControl(field, value, fresh, title, input, () => {
		if (input.value) return field.type === 'string' ? entered() : numberOf(input.value)
		// Without the member the API would store the zero time, which is in year 1.
		if (value == null || field.nullable || !field.required || !field.format?.startsWith('date')) return emptyOf(field, value)
		it.fault(`${title} is required.`)
		it.focus()
		throw new Error(`${title} is required.`)
	})
	return it
}

// emptyOf returns the value of a control that the user has emptied: a text that cannot be absent or null becomes empty.
function emptyOf(field, before) {
	if (field.nullable) return before === undefined && !field.required ? undefined : null
	return field.type === 'string' && !field.format && !field.enum && !field.writeOnly && (before !== undefined || field.required) ? '' : undefined
}

// numberOf returns the number of a text, and the text itself if it is none: the API reports the mistake.
function numberOf(text) {
	text = text.trim()
	if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return text
	if (!text.includes('.') && Number.isSafeInteger(Number(text))) return Number(text)
	text = text.replace(/^\+/, '').replace(/^(-?)0*(?=\d)/, '$1')
	return exact(text.replace(/^(-?)\./, '$10.').replace(/\.(?=e|$)/i, ''))
}

// choiceControl returns a list of values. It has an empty entry if the member can be absent or null, and an entry for a
// stored value that is none of those.
function choiceControl(field, value, fresh, title, pairs) {
	if (value != null && !pairs.some(([v]) => same(v, value))) pairs = [...pairs, [value, textOf(value)]]
	const selected = pairs.findIndex(([v]) => same(v, value))
	const empty = field.nullable || !field.required && field.default === undefined || selected < 0
	const input = make('select', {}, empty && make('option', { value: '' }, field.nullable ? 'none' : ''),
		pairs.map(([, text], i) => make('option', { value: i, selected: i === selected }, text)))
	return inputControl(field, value, fresh, title, input, () => input.value === '' ? emptyOf(field, value) : pairs[input.value][0])
}

// jsonControl returns a text with JSON, for values of any form.
function jsonControl(field, value, fresh, title) {
	const input = make('textarea', { value: value === undefined ? '' : encode(value, '  '), rows: 4, spellcheck: false, class: 'code' })
	const it = inputControl(field, value, fresh, title + ' as JSON', input, () => {
		if (!input.value.trim()) return emptyOf(field, value)
		try {
			return decode(input.value)
		} catch (error) {
			it.fault('This is not JSON: ' + error.message)
			it.focus()
			throw new Error(`${title} is not JSON.`)
		}
	})
	return it
}

// group returns a fieldset with its own place for messages.
function group(title, hint, ...children) {
	const error = make('p', { class: 'wrong', role: 'alert' })
	return [make('fieldset', {}, make('legend', {}, title), hint && make('p', { class: 'hint' }, hint), error, children), error]
}

// objectControl returns the controls of the members of an object.
function objectControl(field, value, fresh, title) {
	const members = new Map(field.fields.filter(f => !f.readOnly).map(f => [f.name, control(f, value?.[f.name], fresh)]))
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
function membersOf(members, before) {
	const out = bare({})
	for (const [name, v] of Object.entries(before ?? {})) if (!members.has(name)) out[name] = v
	for (const [name, member] of members) {
		const v = member.read()
		if (v !== undefined) out[name] = v
	}
	return out
}

// optionalControl returns the control of an object, with a button that adds or removes it unless it is required.
function optionalControl(field, value, fresh, title) {
	if (field.required && fresh || value && !field.nullable) return objectControl(field, value, fresh, title)
	let inner = null
	const place = make('div'), error = make('p', { class: 'wrong', role: 'alert' })
	const render = focus => {
		place.replaceChildren(...inner
			? [inner.node, button(`Remove ${title.toLowerCase()}`, () => { inner = null; render(true) })]
			: [button(`Add ${title.toLowerCase()}`, () => { inner = objectControl(field, undefined, true, title); render(); inner.focus() })])
		if (focus) place.querySelector('button').focus()
	}
	if (value) inner = objectControl(field, value, fresh, title)
	render()
	return {
		node: make('div', { class: 'field' }, make('p', { class: 'label' }, title), place, error),
		read: () => inner ? inner.read() : value === undefined ? undefined : null,
		find(path) { return inner?.find(path) ?? this },
		fault: text => inner ? inner.fault(text) : error.textContent = text,
		focus: () => inner ? inner.focus() : place.querySelector('button').focus(),
	}
}

// arrayControl returns the controls of the elements of an array, with buttons that add and remove one.
function arrayControl(field, value, fresh, title) {
	const noun = singular(title.toLowerCase()), list = make('div', { class: 'elements' }), elements = []
	const heading = i => `${noun.charAt(0).toUpperCase() + noun.slice(1)} ${i + 1}`
	const add = button(`Add ${noun}`, () => { append(undefined, true).focus() })
	const append = (v, fresh) => {
		const inner = control({ ...field.items, name: noun, required: true }, v, fresh, heading(elements.length))
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
		name.firstChild.textContent = heading(i)
		box.lastElementChild.setAttribute('aria-label', `Remove ${heading(i).toLowerCase()}`)
	})
	for (const v of value ?? []) append(v, fresh)
	if (!value && fresh && field.required) for (let i = 0; i < (field.minItems ?? 0); i++) append(undefined, true)
	const [node, error] = group(title, hintOf(field), list, add)
	return {
		node,
		read: () => elements.length || value || fresh && field.required ? elements.map(e => e.inner.read() ?? null) : value,
		find([index, ...rest]) { return elements[index]?.inner.find(rest) ?? this },
		fault: text => { error.textContent = text },
		focus: () => (elements[0]?.inner ?? add).focus(),
	}
}

