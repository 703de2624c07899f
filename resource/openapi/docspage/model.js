// The OpenAPI document: its operations with references resolved, and example values of schemas.
const METHODS = ['get', 'query', 'post', 'put', 'patch', 'delete', 'head', 'trace', 'options']

// parseDocument reads JSON. An integer that a number would round is a BigInt, which JSON.stringify writes as it
// was read.
const parseDocument = text => JSON.parse(text, (_, value, at) =>
	typeof value === 'number' && /^-?\d{16,}$/.test(at?.source) && !Number.isSafeInteger(value)
		? BigInt(at.source) : value)
BigInt.prototype.toJSON = function () { return JSON.rawJSON(String(this)) }

// decoded decodes a part of a URL. Text with a stray % is returned as it is.
function decoded(text) {
	try {
		return decodeURIComponent(text)
	} catch {
		return text
	}
}

// makeModel reads a document. base is its URL, to which servers are relative.
function makeModel(doc, base) {
	// resolve follows references within the document.
	const resolve = (x, depth = 9) => {
		if (!x || typeof x.$ref !== 'string' || !depth) return x
		const parts = x.$ref.replace(/^#\//, '').split('/')
			.map(part => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
		const target = parts.reduce((at, part) => at && Object.hasOwn(at, part) ? at[part] : undefined, doc)
		return resolve(target, depth - 1) ?? {}
	}
	// expand returns the members of an exploded object in the query, which are parameters of the URL, or else p itself.
	const expand = p => {
		const s = p.in === 'query' && !p.content && (p.style ?? 'form') === 'form' && p.explode !== false && flatSchema({ resolve }, p.schema ?? {})
		if (!s || !Object.keys(s.properties ?? {}).length) return [p]
		return Object.entries(s.properties).map(([name, schema]) => ({ ...p, name, schema, description: flatSchema({ resolve }, schema).description, required: !!p.required && !!s.required?.includes(name), example: undefined, examples: undefined }))
	}
	// nameOf returns the name of the schema to which x refers, also if x is that schema or null.
	const nameOf = x => {
		if (typeof x?.$ref === 'string') return decoded(x.$ref.split('/').at(-1))
		const all = x?.anyOf ?? x?.oneOf ?? x?.allOf ?? []
		const solid = x?.properties ? [] : all.filter(c => c?.type !== 'null')
		return solid.length === 1 ? nameOf(solid[0]) : ''
	}
	const operations = []
	for (const [path, item] of Object.entries(doc.paths ?? {})) {
		const shared = resolve(item) ?? {}
		const own = { ...shared, ...shared.additionalOperations }
		const rank = m => METHODS.indexOf(m) < 0 ? 5.5 : METHODS.indexOf(m)
		const methods = Object.keys(own).filter(m => METHODS.includes(m) || shared.additionalOperations?.[m]).sort((a, b) => rank(a) - rank(b))
		for (const method of methods) {
			const op = own[method]
			const parameters = new Map()
			for (const p of [...shared.parameters ?? [], ...op.parameters ?? []].map(p => resolve(p))) parameters.set(`${p.in} ${p.name}`, p)
			operations.push({
				id: op.operationId ?? `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, tag: op.tags?.[0] ?? 'API',
				summary: op.summary ?? '', description: op.description ?? '', deprecated: !!op.deprecated, op,
				parameters: [...parameters.values()].flatMap(expand),
				body: resolve(op.requestBody),
				responses: Object.entries(op.responses ?? {}).map(([status, r]) => ({ status, ...resolve(r) })),
				security: op.security ?? doc.security ?? [],
			})
		}
	}
	// If all operations are deprecated, the version is, and no operation is marked.
	const allOld = operations.every(o => o.deprecated)
	for (const o of operations) if (allOld) o.deprecated = false
	const described = new Map((doc.tags ?? []).map(t => [t.name, t.description]))
	const tags = [...new Set([...described.keys(), ...operations.map(o => o.tag)])]
		.map(name => ({ name, description: described.get(name), operations: operations.filter(o => o.tag === name) }))
		.filter(t => t.operations.length)
	const servers = (doc.servers?.length ? doc.servers : [{ url: '/' }]).map(s => {
		const filled = s.url.replace(/\{([^}]*)\}/g, (all, v) => s.variables?.[v]?.default ?? all)
		return { url: new URL(filled, base).href.replace(/\/$/, ''), description: s.description }
	})
	return { doc, base, resolve, nameOf, operations, tags, servers, schemas: doc.components?.schemas ?? {}, schemes: doc.components?.securitySchemes ?? {} }
}

// operationOf finds an operation by its id, or by "METHOD /path".
const operationOf = (model, name) => model.operations.find(o => o.id === name || `${o.method} ${o.path}` === name)

// typesOf returns the JSON types of a schema, in OpenAPI 3.0 and later, without null.
const typesOf = s => (Array.isArray(s?.type) ? s.type : s?.type ? [s.type] : s?.properties ? ['object'] : s?.items ? ['array'] : []).filter(t => t !== 'null')
const nullable = s => s?.nullable === true || Array.isArray(s?.type) && s.type.includes('null') || !!(s?.anyOf ?? s?.oneOf)?.some(x => x?.type === 'null')

// flatSchema resolves a schema, merges allOf, and removes an alternative to null. It follows nine schemas at most,
// so that one that refers to itself ends.
function flatSchema(model, schema, depth = 9) {
	if (!depth) return {}
	let s = model.resolve(schema) ?? {}
	if (s.allOf) {
		const { allOf, ...rest } = s
		s = allOf.map(x => flatSchema(model, x, depth - 1)).reduce((a, b) => ({
			...a, ...b, properties: { ...a.properties, ...b.properties },
			required: [...a.required ?? [], ...b.required ?? []],
		}), rest)
		if (!Object.keys(s.properties ?? {}).length) delete s.properties
	}
	const choices = s.anyOf ?? s.oneOf, solid = choices?.filter(x => x?.type !== 'null')
	if (solid?.length === 1) {
		const { anyOf, oneOf, ...rest } = s
		const nullable = solid.length < choices.length || undefined
		return { ...flatSchema(model, solid[0], depth - 1), ...rest, nullable }
	}
	return s
}

// exampleOf returns an example of a media type or a parameter, as a value; undefined if there is none.
function exampleOf(model, x) {
	if (!x) return undefined
	if (x.example !== undefined) return x.example
	const first = model.resolve(Object.values(x.examples ?? {})[0])
	return first?.value ?? first?.dataValue
}

// sampleOf makes a value of a schema. reading leaves out writeOnly members, otherwise readOnly ones are left out.
function sampleOf(model, schema, reading, depth = 0) {
	const s = flatSchema(model, schema)
	if (depth > 9 || depth > 2 && nullable(s)) return null
	if (s.example !== undefined) return s.example
	if (Array.isArray(s.examples) && s.examples.length) return s.examples[0]
	if (s.default !== undefined) return s.default
	if (s.const !== undefined) return s.const
	if (s.enum?.length) return s.enum[0]
	const choice = s.oneOf ?? s.anyOf
	if (choice) return sampleOf(model, choice.find(c => c?.type !== 'null'), reading, depth + 1)
	switch (typesOf(s)[0]) {
	case 'object':
		if (depth > 5) return {}
		return Object.fromEntries(Object.entries(s.properties ?? {})
			.filter(([name, p]) => { const m = flatSchema(model, p); return !(reading ? m.writeOnly : m.readOnly) && (depth < 3 || s.required?.includes(name)) })
			.map(([name, p]) => [name, sampleOf(model, p, reading, depth + 1)]))
	case 'array': {
		const count = s.maxItems === 0 || depth > 5 ? 0 : Math.min(Math.max(Number(s.minItems ?? 1), 1), 20)
		return Array.from({ length: count }, () => sampleOf(model, s.items ?? {}, reading, depth + 1))
	}
	case 'integer': case 'number': return sampleNumber(s)
	case 'boolean': return true
	case 'string': return sampleText(s)
	}
	return null
}

// FORMATS has values of the formats that the library checks, the preferred one first.
const FORMATS = new Map(Object.entries({
	'date-time': ['2026-01-31T12:00:00Z'], date: ['2026-01-31'],
	time: ['12:00:00Z'], 'time-local': ['12:00:00'], duration: ['P1DT2H30M', 'P1D'], decimal: ['12.50', '1'],
	email: ['ada@example.com', 'a@b.example', 'a@b.de'], uuid: ['5f0c9a0e-5b7e-4d5e-9d0b-0b1c2d3e4f50'],
	uri: ['https://example.com/', 'urn:a:b', 'a:b'], hostname: ['www.example.com', 'a.example', 'a'],
	ipv4: ['192.0.2.1', '1.1.1.1'], ipv6: ['2001:db8::1', '::1'],
	'uri-reference': ['/text', '/'], byte: ['dGV4dA=='],
}))

// sampleText makes a string of the format and the lengths of a schema. It names a pattern that it does not
// match.
function sampleText(s) {
	const low = Number(s.minLength ?? 0), high = Number(s.maxLength ?? Infinity)
	const forms = FORMATS.get(s.format)
	const value = forms?.find(v => v.length >= low && v.length <= high) ?? forms?.[0] ??
		'text'.padEnd(Math.min(low, 1000), 'x').slice(0, high)
	try {
		return !s.pattern || new RegExp(s.pattern, 'u').test(value) ? value : `matches ${s.pattern}`
	} catch {
		return `matches ${s.pattern}` // the pattern has syntax that JavaScript does not have
	}
}

// sampleNumber makes a number within the limits of a schema.
function sampleNumber(s) {
	const { minimum: low, maximum: high, exclusiveMinimum: above, exclusiveMaximum: below } = s
	const top = high ?? below
	if ([low, top, above, s.multipleOf].some(v => typeof v === 'bigint')) {
		const least = low ?? (typeof above === 'bigint' ? above + 1n : above === undefined ? 1 : above + 1)
		return least <= 1 && 1 <= (top ?? 1) ? 1 : least <= (top ?? least) ? least : top
	}
	const after = above + 1 < (top ?? Infinity) ? above + 1 : (above + top) / 2
	const past = typeof above === 'number' ? after : undefined
	const value = low ?? past ?? Math.min(1, high ?? (typeof below === 'number' ? below - 1 : 1))
	return s.multipleOf ? Math.ceil(value / s.multipleOf) * s.multipleOf : value
}

const isJSON = media => /[/+]json\b/.test(media)
// mediaTypes returns the media types of a content, vendor types last.
const mediaTypes = content => Object.keys(content ?? {}).sort((a, b) => /\.v?\d/.test(a) - /\.v?\d/.test(b))

// OPERATORS are the suffixes of parameters that filter.
const OPERATORS = /^(.+)\.(ne|in|notIn|lt|lte|gt|gte|contains|startsWith|endsWith|isNull)$/
// filtersOf groups parameters that filter by their field. The others are returned in rest.
function filtersOf(parameters) {
	const fields = new Map(), rest = []
	const based = new Set(parameters.filter(p => p.in === 'query').map(p => OPERATORS.exec(p.name)?.[1]).filter(Boolean))
	for (const p of parameters) {
		const [, field = p.name, operator = 'eq'] = p.in === 'query' ? OPERATORS.exec(p.name) ?? [] : []
		if (p.in === 'query' && based.has(field)) fields.set(field, [...fields.get(field) ?? [], { operator, p }])
		else rest.push(p)
	}
	return { fields, rest }
}
