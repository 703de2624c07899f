// The middle column: all operations, one operation, a schema, and the text about the API.

// link returns the fragment of an operation.
const hrefOf = op => '#' + encodeURIComponent(op.id).replaceAll('%2F', '/').replaceAll('%20', ' ')

const badge = method => make('span', { class: `method ${method}` }, method)

// operationLink returns a link to an operation, with its method, path and summary.
const operationLink = op => make('a', { class: 'operation' + (op.deprecated ? ' old' : ''), href: hrefOf(op), 'data-id': op.id }, badge(op.method), make('code', {}, op.path), make('span', { class: 'about' }, op.summary))

// split separates operations from those of OPTIONS, HEAD and TRACE, which are shown last.
const split = operations => [operations.filter(o => !/OPTIONS|HEAD|TRACE/.test(o.method)), operations.filter(o => /OPTIONS|HEAD|TRACE/.test(o.method))]

function statusLine(info) {
	const day = s => String(s ?? '').slice(0, 10)
	const parts = [!info['x-deprecation'] && info['x-status'], info['x-deprecation'] && `deprecated from ${day(info['x-deprecation'])}`, info['x-sunset'] && `available until ${day(info['x-sunset'])}`, info['x-successor'] && `replaced by ${info['x-successor']}`]
	return parts.filter(Boolean).join(' · ')
}

// overview shows all operations by tag.
function overviewView(model) {
	const { info } = model.doc, status = statusLine(info)
	return [
		make('h1', {}, info.title ?? 'API', ' ', make('small', {}, info.version)),
		status && make('p', { class: `state ${info['x-status'] ?? ''}` }, status),
		make('p', { class: 'lead' }, firstSentence(info.description), ' ', make('a', { href: '#about' }, 'About this API'), ' · ', make('a', { href: model.base }, 'OpenAPI document'), fullLink() && [' · ', fullLink()]),
		model.tags.map(tag => {
			const [usual, others] = split(tag.operations)
			return make('section', { class: 'tag', 'aria-label': tag.name },
				make('h2', {}, tag.name), make('ul', { class: 'operations' }, usual.map(o => make('li', {}, operationLink(o)))),
				others.length > 0 && make('details', {}, make('summary', {}, others.map(o => o.method).filter((m, i, all) => all.indexOf(m) === i).join(', ')), make('ul', { class: 'operations' }, others.map(o => make('li', {}, operationLink(o))))))
		}),
		Object.keys(model.schemas).length > 0 && make('section', { class: 'tag', 'aria-label': 'Schemas' }, make('h2', {}, 'Schemas'), make('ul', { class: 'schemas' }, Object.keys(model.schemas).map(n => make('li', {}, make('a', { href: `#schema/${n}` }, n))))),
	]
}

const aboutView = model => [
	make('h1', {}, 'About ', model.doc.info.title ?? 'this API'), markdown(model.doc.info.description, 1),
	make('h2', {}, 'Servers'), make('ul', {}, model.servers.map(s => make('li', {}, make('code', {}, s.url), s.description && ` ${s.description}`))),
	model.doc.info.license && make('p', {}, 'License: ', model.doc.info.license.name),
]

const schemaPage = (model, name) => [
	make('h1', {}, name), markdown(flatSchema(model, model.schemas[name]).description), schemaView(model, { $ref: `#/components/schemas/${name}` }),
]

// operationView shows one operation.
function operationView(model, op) {
	return [
		make('p', { class: 'crumbs' }, make('a', { href: '#' }, 'All operations'), ' / ', op.tag),
		make('h1', {}, op.summary || op.id, op.deprecated && make('span', { class: 'old' }, 'deprecated')),
		make('p', { class: 'path' }, badge(op.method), make('code', {}, op.path)),
		make('div', { class: 'prose' }, markdown(op.description)),
		parametersView(model, op), bodyView(model, op), responsesView(model, op),
	]
}

// parameterRow shows a parameter.
const parameterRow = (model, p, operators) => make('li', {},
	make('div', { class: 'member' }, make('code', { class: 'field' }, p.name), make('span', { class: 'type' }, p.content ? 'JSON' : p.style === 'deepObject' ? `${p.name}[member]` : typeText(model, p.schema ?? {})),
		p.required && make('span', { class: 'required' }, 'required'), p.deprecated && make('span', { class: 'old' }, 'deprecated'), facts(model, p.schema ?? {}),
		operators?.length && make('span', { class: 'enum' }, operators.map(o => make('code', {}, o)))),
	!operators && markdown(p.description),
	(p.style === 'deepObject' || p.content) && make('details', {}, make('summary', {}, 'Members', make('span', { class: 'unseen' }, ` of ${p.name}`)), schemaView(model, p.schema ?? Object.values(p.content)[0].schema ?? {}, false)))

// parametersView shows the parameters by their place. Parameters that filter by one field are one row.
function parametersView(model, op) {
	const { fields, rest } = filtersOf(op.parameters), at = place => rest.filter(p => p.in === place)
	const group = (title, rows, open = true) => rows.length > 0 && make('details', { class: 'group', open }, make('summary', {}, make('h2', {}, title), make('span', { class: 'count' }, String(rows.length))), make('ul', { class: 'members' }, rows))
	return [
		group('Path', at('path').map(p => parameterRow(model, p))),
		group('Query', at('query').map(p => parameterRow(model, p))),
		group('Filters', [...fields].map(([field, all]) => parameterRow(model, { ...all[0].p, name: field }, all.map(x => x.operator === 'eq' ? field : `${field}.${x.operator}`)))),
		group('Header fields', at('header').map(p => parameterRow(model, p)), at('header').length < 4),
		group('Cookies', at('cookie').map(p => parameterRow(model, p))),
	]
}

// contentView shows the schemas of a content, one for each media type; equal ones together.
function contentView(model, content, reading) {
	const groups = new Map()
	for (const media of mediaTypes(content)) {
		const key = JSON.stringify(content[media].schema ?? content[media].itemSchema ?? {})
		groups.set(key, [...groups.get(key) ?? [], media])
	}
	return [...groups.values()].map(list => {
		const { schema, itemSchema } = content[list[0]], named = model.nameOf(schema)
		return make('section', { class: 'media' }, make('p', { class: 'types' }, list.slice(0, 2).map(m => make('code', {}, m)), list.length > 2 && make('span', { class: 'faint' }, `and ${list.length - 2} more`), named && make('a', { href: `#schema/${named}` }, named)),
			itemSchema && make('p', { class: 'faint' }, 'A sequence of:'), schema || itemSchema ? schemaView(model, schema ?? itemSchema, reading) : make('p', { class: 'faint' }, 'Binary content.'))
	})
}

function bodyView(model, op) {
	if (!op.body) return null
	return make('details', { class: 'group', open: true }, make('summary', {}, make('h2', {}, 'Request body'), op.body.required && make('span', { class: 'required' }, 'required')), markdown(op.body.description), contentView(model, op.body.content, false))
}

// responsesView shows the responses: those of success open, the errors closed.
function responsesView(model, op) {
	const row = r => make('details', { class: `response s${r.status[0]}`, open: /^2/.test(r.status) && op.responses.find(x => /^2/.test(x.status)) === r },
		make('summary', {}, make('b', {}, r.status), ' ', make('span', { class: 'faint' }, firstSentence(r.description))),
		firstSentence(r.description) !== plainText(String(r.description ?? '')) && markdown(r.description),
		Object.keys(r.headers ?? {}).length > 0 && make('p', { class: 'types' }, make('span', { class: 'faint' }, 'Header fields'), Object.keys(r.headers).map(h => make('code', { title: model.resolve(r.headers[h])?.description ?? '' }, h))),
		contentView(model, r.content, true))
	const good = op.responses.filter(r => /^[123]/.test(r.status)), bad = op.responses.filter(r => !/^[123]/.test(r.status))
	return [
		make('section', { class: 'group' }, make('h2', {}, 'Responses'), good.map(row)),
		bad.length > 0 && make('section', { class: 'group' }, make('h2', {}, 'Errors'), bad.map(row)),
	]
}
