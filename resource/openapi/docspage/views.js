// The middle column: all operations, one operation, a schema, and the text about the API.
import { make } from '../../httpbody/page/dom.js'
import { encode } from '../../httpbody/page/jsonvalue.js'
import { firstSentence, markdown, plainText } from './markdown.js'
import { filtersOf, flatSchema, mediaTypes, nameOf } from './model.js'
import { count } from './parts.js'
import { facts, membersSummary, schemaView, typeText } from './schema.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Content, Document, Model, Operation, Parameter } from './types' */

/** @param {Operation} op */
export const hrefOf = op => '#' + encodeURIComponent(op.id).replaceAll('%2F', '/').replaceAll('%20', ' ')

/** @param {string} method */
export const badge = method => make('span', { class: `method ${method}` }, method)

/** @param {Operation} op */
const operationLink = op => make('a', {
	class: 'operation' + (op.deprecated ? ' old' : ''), href: hrefOf(op), 'data-id': op.id,
}, badge(op.method), make('code', {}, op.path), make('span', { class: 'about' }, op.summary))

// split separates the operations of OPTIONS, HEAD and TRACE, which are shown last.
/** @param {Operation[]} operations */
export function split(operations) {
	const isLast = (/** @type {Operation} */ o) => /OPTIONS|HEAD|TRACE/.test(o.method)
	return [operations.filter(o => !isLast(o)), operations.filter(isLast)]
}

/** @param {Operation[]} operations */
export const methodsOf = operations => [...new Set(operations.map(o => o.method))].join(', ')

/** @param {Document['info']} info */
function statusLine(info) {
	const { 'x-status': status, 'x-deprecation': deprecation, 'x-sunset': sunset, 'x-successor': by } = info
	const day = (/** @type {string} */ s) => String(s).slice(0, 10)
	return [
		!deprecation && status, deprecation && `deprecated from ${day(deprecation)}`,
		sunset && `available until ${day(sunset)}`, by && `replaced by ${by}`,
	].filter(Boolean).join(' · ')
}

/**
 * @param {Model} model
 * @param {HTMLElement | null} fullLink
 * @returns {Children[]}
 */
export function overviewView(model, fullLink) {
	const { info } = model.doc, status = statusLine(info), names = Object.keys(model.schemas)
	const list = (/** @type {Operation[]} */ all) =>
		make('ul', { class: 'operations' }, all.map(o => make('li', {}, operationLink(o))))
	/** @type {(name: string, ...children: Children[]) => HTMLElement} */
	const section = (name, ...children) =>
		make('section', { class: 'tag', 'aria-label': name }, make('h2', {}, name), children)
	return [
		make('h1', {}, info.title ?? 'API', ' ', make('small', {}, info.version)),
		status && make('p', { class: `state ${info['x-status'] ?? ''}` }, status),
		make('p', { class: 'lead' }, firstSentence(info.description), ' ',
			make('a', { href: '#about' }, 'About this API'), ' · ',
			make('a', { href: model.base }, 'OpenAPI document'), fullLink && [' · ', fullLink]),
		model.tags.map(tag => {
			const [usual, others] = split(tag.operations)
			return section(tag.name, list(usual), others.length > 0 &&
				make('details', {}, make('summary', {}, methodsOf(others)), list(others)))
		}),
		names.length > 0 && section('Schemas', make('ul', { class: 'schemas' },
			names.map(n => make('li', {}, make('a', { href: `#schema/${n}` }, n))))),
	]
}

/**
 * @param {Model} model
 * @returns {Children[]}
 */
export function aboutView(model) {
	const { info } = model.doc
	return [
		make('h1', {}, 'About ', info.title ?? 'this API'), markdown(info.description, 1),
		make('h2', {}, 'Servers'), make('ul', {}, model.servers.map(s =>
			make('li', {}, make('code', {}, s.url), s.description && ` ${s.description}`))),
		info.license && make('p', {}, 'License: ', info.license.name),
	]
}

/**
 * @param {Model} model
 * @param {string} name
 * @returns {Children[]}
 */
export const schemaPage = (model, name) => [
	make('h1', {}, name), markdown(flatSchema(model, model.schemas[name]).description),
	schemaView(model, { $ref: `#/components/schemas/${name}` }),
]

/**
 * @param {Model} model
 * @param {Operation} op
 * @returns {Children[]}
 */
export const operationView = (model, op) => [
	make('p', { class: 'crumbs' }, make('a', { href: '#' }, 'All operations'), ' / ', op.tag),
	make('h1', {}, op.summary || op.id, op.deprecated && make('span', { class: 'old' }, 'deprecated')),
	make('p', { class: 'path' }, badge(op.method), make('code', {}, op.path)),
	make('div', { class: 'prose' }, markdown(op.description)),
	parametersView(model, op), bodyView(model, op), responsesView(model, op),
]

/**
 * @param {Model} model
 * @param {Parameter} p
 * @param {string[]} [operators]
 */
function parameterRow(model, p, operators) {
	const deep = p.style === 'deepObject', schema = p.schema ?? {}
	const type = p.content ? 'JSON' : deep ? `${p.name}[member]` : typeText(model, schema)
	const members = p.schema ?? Object.values(p.content ?? {})[0]?.schema ?? {}
	return make('li', {},
		make('div', { class: 'member' },
			make('code', { class: 'field' }, p.name), make('span', { class: 'type' }, type),
			p.required && make('span', { class: 'required' }, 'required'),
			p.deprecated && make('span', { class: 'old' }, 'deprecated'), facts(model, schema),
			operators && make('span', { class: 'enum' }, operators.map(o => make('code', {}, o)))),
		!operators && markdown(p.description),
		(deep || p.content) && make('details', {}, membersSummary(p.name), schemaView(model, members, false)))
}

// parametersView shows the parameters by their place. Parameters that filter by one field are one row.
/**
 * @param {Model} model
 * @param {Operation} op
 */
function parametersView(model, op) {
	const { fields, rest } = filtersOf(op.parameters)
	const at = (/** @type {string} */ place) =>
		rest.filter(p => p.in === place).map(p => parameterRow(model, p))
	const group = (/** @type {string} */ title, /** @type {HTMLElement[]} */ rows, open = true) =>
		rows.length > 0 && make('details', { class: 'group', open },
			make('summary', {}, make('h2', {}, title), count(rows.length)),
			make('ul', { class: 'members' }, rows))
	const filters = [...fields].map(([field, all]) => parameterRow(model, { ...all[0].p, name: field },
		all.map(x => x.operator === 'eq' ? field : `${field}.${x.operator}`)))
	const headers = at('header')
	return [
		group('Path', at('path')), group('Query', at('query')), group('Filters', filters),
		group('Header fields', headers, headers.length < 4), group('Cookies', at('cookie')),
	]
}

// contentView shows the schemas of a content, one for each media type; equal ones together.
/**
 * @param {Model} model
 * @param {Content | undefined} content
 * @param {boolean} reading
 */
function contentView(model, content, reading) {
	/** @type {Map<string, string[]>} */
	const groups = new Map()
	for (const media of mediaTypes(content)) {
		const key = encode(content?.[media].schema ?? content?.[media].itemSchema ?? {})
		groups.set(key, [...groups.get(key) ?? [], media])
	}
	return [...groups.values()].map(list => {
		const { schema, itemSchema } = content?.[list[0]] ?? {}, name = nameOf(schema)
		const shown = schema ?? itemSchema
		return make('section', { class: 'media' },
			make('p', { class: 'types' }, list.slice(0, 2).map(m => make('code', {}, m)),
				list.length > 2 && make('span', { class: 'faint' }, `and ${list.length - 2} more`),
				name && make('a', { href: `#schema/${name}` }, name)),
			itemSchema && make('p', { class: 'faint' }, 'A sequence of:'),
			shown ? schemaView(model, shown, reading) : make('p', { class: 'faint' }, 'Binary content.'))
	})
}

/**
 * @param {Model} model
 * @param {Operation} op
 */
const bodyView = (model, { body }) => body && make('details', { class: 'group', open: true },
	make('summary', {}, make('h2', {}, 'Request body'),
		body.required && make('span', { class: 'required' }, 'required')),
	markdown(body.description), contentView(model, body.content, false))

// responsesView shows the responses: the first of success open, the others closed.
/**
 * @param {Model} model
 * @param {Operation} op
 */
function responsesView(model, op) {
	const first = op.responses.find(r => /^2/.test(r.status))
	const row = (/** @type {Operation['responses'][0]} */ r) => {
		const title = firstSentence(r.description), headers = Object.entries(r.headers ?? {})
		return make('details', { class: `response s${r.status[0]}`, open: r === first },
			make('summary', {}, make('b', {}, r.status), ' ', make('span', { class: 'faint' }, title)),
			title !== plainText(String(r.description ?? '')) && markdown(r.description),
			headers.length > 0 && make('p', { class: 'types' },
				make('span', { class: 'faint' }, 'Header fields'),
				headers.map(([h, x]) => make('code', { title: model.resolve(x)?.description ?? '' }, h))),
			contentView(model, r.content, true))
	}
	const good = op.responses.filter(r => /^[123]/.test(r.status))
	const bad = op.responses.filter(r => !/^[123]/.test(r.status))
	return [
		make('section', { class: 'group' }, make('h2', {}, 'Responses'), good.map(row)),
		bad.length > 0 && make('section', { class: 'group' }, make('h2', {}, 'Errors'), bad.map(row)),
	]
}
