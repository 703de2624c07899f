// The form above a list: search, filters and order. Its state is the query of the list, as in the URL of the API.

const operators = {
	eq: 'is', ne: 'is not', in: 'is one of', notIn: 'is none of', lt: 'is less than', lte: 'is at most', gt: 'is greater than',
	gte: 'is at least', contains: 'contains', startsWith: 'starts with', isNull: 'is null',
}

// filterOf returns the field and the operator of a parameter, null if it is not a filter by a field.
function filterOf(resource, name) {
	const at = name.lastIndexOf('.'), field = at < 0 ? name : name.slice(0, at), op = at < 0 ? 'eq' : name.slice(at + 1)
	if (resource.filter?.[field]?.includes(op)) return [field, op]
	return resource.filter?.[name] ? [name, 'eq'] : null
}

// filterForm returns the form. go is called with the new query when it is submitted.
function filterForm(resource, params, go) {
	const names = resource.fields.map(f => f.name).filter(n => resource.filter?.[n]?.length)
	const search = resource.search?.length && make('input', { type: 'search', value: params.get('q') ?? '' })
	const rows = make('div', { class: 'filters' })
	const add = (field, op, value) => rows.append(filterRow(resource, names, field, op, value, () => more.focus()))
	const more = button('Add a filter', () => {
		add(names[0])
		rows.lastElementChild.querySelector('select').focus()
	})
	const [, by] = /^-?(.*)$/.exec(params.get('sort')?.split(',')[0] ?? '')
	const sort = resource.sort?.length && make('select', {}, options([['', search && params.get('q') ? 'best match' : 'default'], ...resource.sort.map(n => [n, n.split('.').map(titleOf).join(': ')])], by))
	const order = make('select', { 'aria-label': 'Direction' }, options([['', 'ascending'], ['-', 'descending']], params.get('sort')?.startsWith('-') ? '-' : ''))
	const orderOf = () => sort && sort.value && order.value + sort.value, first = orderOf()
	// Parameters that the form cannot show are kept as they are: filters through relations, filter and expand, for example.
	const kept = []
	for (const [name, value] of params) {
		const found = filterOf(resource, name)
		if (found && names.includes(found[0])) add(...found, value)
		else if (!(name === 'q' && search || name === 'sort' && sort)) kept.push([name, value])
	}
	const submit = () => {
		const next = new URLSearchParams()
		if (search && search.value.trim()) next.set('q', search.value.trim())
		for (const row of rows.children) row.addTo(next)
		// The form shows the first key of the order. The others are kept until the user changes it.
		const by = orderOf() === first ? params.get('sort') : orderOf()
		if (sort && by) next.set('sort', by)
		for (const pair of kept) next.append(...pair)
		go(next)
	}
	for (const select of [sort, order]) select && select.addEventListener('change', submit)
	return make('form', { class: 'query', role: 'search', 'aria-label': 'Search, filter and sort', onsubmit: event => { event.preventDefault(); submit() } },
		search && labelled('Search', search), sort && labelled('Sort by', sort), sort && make('div', { class: 'labelled' }, order),
		names.length > 0 && rows,
		make('div', { class: 'buttons' }, names.length > 0 && more, make('button', {}, 'Apply'),
			[...params.keys()].some(k => k !== 'limit') && button('Clear', () => go(new URLSearchParams()))))
}

// filterRow returns one filter: a field, an operator and a value. Its method addTo adds it to a query.
function filterRow(resource, names, field, op, value = '', left) {
	const place = make('span', { class: 'operand' })
	const byField = make('select', { 'aria-label': 'Field' }, options(names.map(n => [n, titleOf(n)]), field))
	const byOp = make('select', { 'aria-label': 'Operator' })
	const fill = (op, value) => {
		byOp.replaceChildren(...options(resource.filter[byField.value].map(o => [o, operators[o] ?? o]), op))
		operand(value)
	}
	const operand = value => {
		const f = resource.fields.find(f => f.name === byField.value), one = !['in', 'notIn'].includes(byOp.value)
		const choices = byOp.value === 'isNull' || f.type === 'boolean' ? ['true', 'false'] : one ? f.enum?.map(String) : null
		const label = { 'aria-label': 'Value' }
		place.replaceChildren(choices ? make('select', label, options(choices.map(c => [c]), value))
			: make('input', { ...label, value, placeholder: one ? (f.format ?? '') : 'a,b,c', autocomplete: 'off' }))
	}
	byField.addEventListener('change', () => fill())
	byOp.addEventListener('change', () => operand(place.firstChild.value))
	fill(op, value)
	const row = make('div', { class: 'filter', role: 'group', 'aria-label': 'Filter' }, byField, byOp, place,
		button('Remove', () => { row.remove(); left() }))
	row.addTo = params => {
		const text = place.firstChild.value
		if (text !== '') params.append(byField.value + (byOp.value === 'eq' ? '' : '.' + byOp.value), text)
	}
	return row
}

