// The form above a list: search, filters and order. Its state is the query of the list, as in the URL of
// the API.
import { make } from '../../httpbody/page/dom.js'
import { button, labelled, options } from './parts.js'
import { titleOf } from './values.js'
/** @import { Resource } from './types' */

/** @typedef {{ node: HTMLElement, addTo: (query: URLSearchParams) => void }} Row of a filter */

/** @type {Record<string, string>} */
const operators = {
	eq: 'is', ne: 'is not', in: 'is one of', notIn: 'is none of', lt: 'is less than', lte: 'is at most',
	gt: 'is greater than', gte: 'is at least', contains: 'contains', startsWith: 'starts with',
	isNull: 'is null',
}

// filterOf returns the field and the operator of a parameter, null if it is not a filter by a field.
/**
 * @param {Resource} resource
 * @param {string} name
 */
export function filterOf(resource, name) {
	const at = name.lastIndexOf('.'), field = at < 0 ? name : name.slice(0, at)
	const op = at < 0 ? 'eq' : name.slice(at + 1)
	if (resource.filter?.[field]?.includes(op)) return [field, op]
	return resource.filter?.[name] ? [name, 'eq'] : null
}

// filterForm returns the form. go is called with the new query when it is submitted.
/**
 * @param {Resource} resource
 * @param {URLSearchParams} params
 * @param {(query: URLSearchParams) => void} go
 */
export function filterForm(resource, params, go) {
	const names = resource.fields.map(f => f.name).filter(n => resource.filter?.[n]?.length)
	const search = resource.search?.length
		? make('input', { type: 'search', value: params.get('q') ?? '' }) : null
	const { sort, order, orderOf } = sortOf(resource, params)
	/** @type {Row[]} */
	const rows = []
	const list = make('div', { class: 'filters' })
	const add = (/** @type {string} */ field, /** @type {string} */ op = '', value = '') => {
		const row = filterRow(resource, names, field, op, value, () => {
			rows.splice(rows.indexOf(row), 1)
			more.focus()
		})
		rows.push(row)
		list.append(row.node)
		return row.node
	}
	const more = button('Add a filter', () => add(names[0]).querySelector('select')?.focus())
	const first = orderOf()
	// Parameters that the form cannot show are kept as they are: filters through relations, filter and
	// expand, for example.
	/** @type {[string, string][]} */
	const kept = []
	for (const [name, value] of params) {
		const [field, op] = filterOf(resource, name) ?? []
		if (field && names.includes(field)) add(field, op, value)
		else if (!(name === 'q' && search || name === 'sort' && sort)) kept.push([name, value])
	}
	const submit = () => {
		const next = new URLSearchParams()
		if (search?.value.trim()) next.set('q', search.value.trim())
		for (const row of rows) row.addTo(next)
		// The form shows the first key of the order. The others are kept until the user changes it.
		const by = orderOf() === first ? params.get('sort') : orderOf()
		if (sort && by) next.set('sort', by)
		for (const pair of kept) next.append(...pair)
		go(next)
	}
	for (const select of [sort, order]) select?.addEventListener('change', submit)
	const clears = [...params.keys()].some(k => k !== 'limit')
	return make('form', {
		class: 'query', role: 'search', 'aria-label': 'Search, filter and sort',
		onsubmit: event => { event.preventDefault(); submit() },
	}, search && labelled('Search', search), sort && labelled('Sort by', sort),
	sort && make('div', { class: 'labelled' }, order), names.length > 0 && list,
	make('div', { class: 'buttons' }, names.length > 0 && more, make('button', {}, 'Apply'),
		clears && button('Clear', () => go(new URLSearchParams()))))
}

// sortOf returns the elements for the order, and a function that returns the order. sort is null if the
// API does not sort.
/**
 * @param {Resource} resource
 * @param {URLSearchParams} params
 */
function sortOf(resource, params) {
	const now = params.get('sort') ?? '', by = now.split(',')[0].replace(/^-/, '')
	const best = resource.search?.length && params.get('q')
	const choices = (resource.sort ?? []).map(n => [n, n.split('.').map(titleOf).join(': ')])
	const sort = choices.length
		? make('select', {}, options([['', best ? 'best match' : 'default'], ...choices], by)) : null
	const order = make('select', { 'aria-label': 'Direction' },
		options([['', 'ascending'], ['-', 'descending']], now.startsWith('-') ? '-' : ''))
	return { sort, order, orderOf: () => sort?.value ? order.value + sort.value : '' }
}

// filterRow returns one filter: a field, an operator and a value. left is called when it was removed.
/**
 * @param {Resource} resource
 * @param {string[]} names
 * @param {string} field
 * @param {string} op
 * @param {string} value
 * @param {() => void} left
 * @returns {Row}
 */
function filterRow(resource, names, field, op, value, left) {
	const place = make('span', { class: 'operand' })
	const byField = make('select', { 'aria-label': 'Field' }, options(names.map(n => [n, titleOf(n)]), field))
	const byOp = make('select', { 'aria-label': 'Operator' })
	/** @type {HTMLInputElement | HTMLSelectElement} */
	let input
	const fill = (op = '', value = '') => {
		const all = resource.filter?.[byField.value] ?? []
		byOp.replaceChildren(...options(all.map(o => [o, operators[o] ?? o]), op))
		operand(value)
	}
	const operand = (/** @type {string} */ value) => {
		const f = resource.fields.find(f => f.name === byField.value)
		const one = !['in', 'notIn'].includes(byOp.value)
		const two = byOp.value === 'isNull' || f?.type === 'boolean'
		const choices = two ? ['true', 'false'] : one ? f?.enum?.map(String) : null
		const label = { 'aria-label': 'Value' }, placeholder = one ? f?.format ?? '' : 'a,b,c'
		input = choices ? make('select', label, options(choices.map(c => [c]), value))
			: make('input', { ...label, value, placeholder, autocomplete: 'off' })
		place.replaceChildren(input)
	}
	byField.addEventListener('change', () => fill())
	byOp.addEventListener('change', () => operand(input.value))
	fill(op, value)
	const node = make('div', { class: 'filter', role: 'group', 'aria-label': 'Filter' }, byField, byOp, place,
		button('Remove', () => { node.remove(); left() }))
	const addTo = (/** @type {URLSearchParams} */ query) => {
		const suffix = byOp.value === 'eq' ? '' : '.' + byOp.value
		if (input.value !== '') query.append(byField.value + suffix, input.value)
	}
	return { node, addTo }
}
