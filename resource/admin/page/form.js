// The form of an item: the fields that a client can write.

// writable returns the fields that the form of an item has.
const writable = (resource, creating) => resource.fields.filter(f =>
	!f.readOnly && (f.name !== resource.id || creating && resource.takesIds))

// itemForm returns a form for an item, empty for a new one. save is called with the item when it is submitted, and with
// the memory that call needs to repeat a write. The result has
//
//	node      the form
//	dirty     reports whether the user has changed something that is not saved
//	focus     moves the focus to the first field
function itemForm(resource, item, label, save, ...buttons) {
	const creating = !item, fields = writable(resource, creating)
	const controls = new Map(fields.map(f => [f.name, control(
		f.name === resource.id && resource.assignsIds ? { ...f, required: false } : f, item?.[f.name], creating)]))
	const read = () => membersOf(controls, item), attempt = {}
	const submit = make('button', { class: 'main' }, label)
	const all = make('fieldset', { class: 'all' }, [...controls.values()].map(c => c.node), make('div', { class: 'buttons' }, submit, buttons))
	const node = make('form', {
		class: 'item', noValidate: true, 'aria-label': label,
		onsubmit: async event => {
			event.preventDefault()
			notice('')
			for (const clear of node.querySelectorAll('.wrong')) clear.textContent = ''
			for (const input of node.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
			const focused = document.activeElement
			let failure = null
			try {
				const value = read()
				all.disabled = true
				await save(value, attempt)
				before = encode(value)
			} catch (error) {
				failure = error
			}
			all.disabled = false
			if (!failure) return
			if (!isShown(node) && failure.status !== 401) return fail(new Error(`${label}: ${failure.message}`))
			if (document.activeElement === document.body) focused.focus()
			if (failure.status === 401 || !refuse(failure.problem)) fail(failure)
		},
	}, all)

	// refuse shows each error of a problem at the field that its JSON Pointer (RFC 6901) names, and the others above the form.
	// It returns false if the problem has none.
	const refuse = problem => {
		const others = []
		let first = null
		for (const { pointer, detail, code } of problem?.errors ?? []) {
			const [name, ...path] = (pointer ?? '').slice(1).split('/').map(s => s.replaceAll('~1', '/').replaceAll('~0', '~'))
			const found = controls.get(name)?.find(path)
			if (!found) {
				others.push(make('li', {}, detail ?? `${pointer}: ${code}`))
				continue
			}
			found.fault(detail ?? code)
			first ??= found
		}
		if (!first && !others.length) return false
		notice(problem.detail ?? problem.title, 'error', others.length > 0 && make('ul', {}, others))
		report(`${problem.errors.length === 1 ? 'One field is' : problem.errors.length + ' fields are'} not valid.`)
		first?.focus()
		return true
	}
	let before = encode(read())
	const dirty = () => {
		try {
			return encode(read()) !== before
		} catch {
			return true // a text is not JSON
		}
	}
	return { node, dirty, focus: () => controls.values().next().value?.focus() }
}

