// The OpenAPI document: its operations with references resolved, and example values of schemas.
import { encode, Exact, isExact } from '../../httpbody/page/jsonvalue.js'
/**
 * @import {
 *   Content, Document, Exemplified, Model, Numeric, Operation, Parameter, PathItem, Resolve, Resolver,
 *   Schema
 * } from './types'
 */

const METHODS = ['get', 'query', 'post', 'put', 'patch', 'delete', 'head', 'trace', 'options']

// valueText returns a value as it is entered and shown: a text, or else JSON.
/**
 * @param {unknown} value
 * @param {string} [indent]
 */
export const valueText = (value, indent) => typeof value === 'string' ? value : encode(value, indent) ?? ''

// decoded decodes a part of a URL. Text with a stray % is returned as it is.
/** @param {string} text */
export function decoded(text) {
	try {
		return decodeURIComponent(text)
	} catch {
		return text
	}
}

// makeModel reads a document.
/**
 * @param {Document} doc
 * @param {string} base the URL of the document, to which servers are relative
 * @returns {Model}
 */
export function makeModel(doc, base) {
	const resolve = resolverOf(doc), operations = operationsOf(doc, resolve)
	// If all operations are deprecated, the version is, and no operation is marked.
	const allOld = operations.every(o => o.deprecated)
	for (const o of operations) if (allOld) o.deprecated = false
	const tags = [...new Set([...(doc.tags ?? []).map(t => t.name), ...operations.map(o => o.tag)])]
		.map(name => ({ name, operations: operations.filter(o => o.tag === name) }))
		.filter(t => t.operations.length)
	/** @type {NonNullable<Document['servers']>} */
	const given = doc.servers?.length ? doc.servers : [{ url: '/' }]
	const servers = given.map(s => {
		const filled = s.url.replace(/\{([^}]*)\}/g, (all, v) => s.variables?.[v]?.default ?? all)
		return { url: new URL(filled, base).href.replace(/\/$/, ''), description: s.description }
	})
	return {
		doc, base, resolve, operations, tags, servers,
		schemas: doc.components?.schemas ?? {}, schemes: doc.components?.securitySchemes ?? {},
	}
}

/**
 * @param {Document} doc
 * @returns {Resolve}
 */
function resolverOf(doc) {
	/** @type {(x: any, depth: number) => any} */
	const follow = (x, depth) => {
		if (!x || typeof x.$ref !== 'string' || !depth) return x
		/** @type {any} */
		let target = doc
		for (const part of x.$ref.replace(/^#\//, '').split('/')) {
			const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
			target = target && Object.hasOwn(target, name) ? target[name] : undefined
		}
		return follow(target, depth - 1) ?? {}
	}
	return x => follow(x, 9)
}

/**
 * @param {Document} doc
 * @param {Resolve} resolve
 */
function operationsOf(doc, resolve) {
	/** @type {Operation[]} */
	const out = []
	for (const [path, item] of Object.entries(doc.paths ?? {})) {
		const shared = /** @type {PathItem} */ (resolve(item) ?? {}), others = shared.additionalOperations
		const own = { ...shared, ...others }
		const rank = (/** @type {string} */ m) => METHODS.indexOf(m) < 0 ? 5.5 : METHODS.indexOf(m)
		const methods = Object.keys(own).filter(m => METHODS.includes(m) || others?.[m])
		for (const method of methods.sort((a, b) => rank(a) - rank(b))) {
			const op = own[method], parameters = new Map(), name = method.toUpperCase()
			const responses = Object.entries(op.responses ?? {})
				.map(([status, r]) => ({ status, ...resolve(r) }))
			for (const given of [...shared.parameters ?? [], ...op.parameters ?? []]) {
				const p = resolve(given)
				parameters.set(`${p.in} ${p.name}`, p)
			}
			out.push({
				id: op.operationId ?? `${name} ${path}`, method: name, path, tag: op.tags?.[0] ?? 'API',
				summary: op.summary ?? '', description: op.description ?? '', deprecated: !!op.deprecated,
				parameters: [...parameters.values()].flatMap(p => exploded({ resolve }, p)),
				body: resolve(op.requestBody), responses, security: op.security ?? doc.security ?? [],
			})
		}
	}
	return out
}

// exploded returns the members of an exploded object in the query, which are parameters of the URL, or
// else the parameter itself.
/**
 * @param {Resolver} model
 * @param {Parameter} p
 * @returns {Parameter[]}
 */
function exploded(model, p) {
	if (p.in !== 'query' || p.content || (p.style ?? 'form') !== 'form' || p.explode === false) return [p]
	const s = flatSchema(model, p.schema ?? {}), members = Object.entries(s.properties ?? {})
	if (!members.length) return [p]
	return members.map(([name, schema]) => ({
		...p, name, schema, description: flatSchema(model, schema).description,
		required: !!p.required && !!s.required?.includes(name), example: undefined, examples: undefined,
	}))
}

// nameOf returns the name of the schema to which a schema refers, also if it is that schema or null; ''
// if it has none.
/**
 * @param {Schema | null | undefined} schema
 * @returns {string}
 */
export function nameOf(schema) {
	if (typeof schema?.$ref === 'string') return decoded(schema.$ref.split('/').at(-1) ?? '')
	const all = schema?.anyOf ?? schema?.oneOf ?? schema?.allOf ?? []
	const solid = schema?.properties ? [] : all.filter(c => c?.type !== 'null')
	return solid.length === 1 ? nameOf(solid[0]) : ''
}

// operationOf finds an operation by its id, or by "METHOD /path".
/**
 * @param {Model} model
 * @param {string} name
 */
export const operationOf = (model, name) =>
	model.operations.find(o => o.id === name || `${o.method} ${o.path}` === name)

// typesOf returns the JSON types of a schema, in OpenAPI 3.0 and later, without null.
/** @param {Schema} s */
export function typesOf(s) {
	const all = s?.type ?? (s?.properties ? 'object' : s?.items ? 'array' : [])
	return [all].flat().filter(t => t && t !== 'null')
}
/** @param {Schema} s */
export const nullable = s => s?.nullable === true || Array.isArray(s?.type) && s.type.includes('null') ||
	!!(s?.anyOf ?? s?.oneOf)?.some(x => x?.type === 'null')

// flatSchema resolves a schema, merges allOf, and removes an alternative to null. It follows nine
// schemas at most, so that one that refers to itself ends.
/**
 * @param {Resolver} model
 * @param {Schema} schema
 * @returns {Schema}
 */
export function flatSchema(model, schema, depth = 9) {
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
	const choices = s.anyOf ?? s.oneOf ?? [], solid = choices.filter(x => x?.type !== 'null')
	if (solid.length === 1) {
		const { anyOf, oneOf, ...rest } = s
		const nullable = solid.length < choices.length || undefined
		return { ...flatSchema(model, solid[0], depth - 1), ...rest, nullable }
	}
	return s
}

// membersOf returns members of a flat schema.
/**
 * @param {Resolver} model
 * @param {Schema} s
 * @param {boolean} [reading] true hides writeOnly members, false those that are readOnly
 */
export const membersOf = (model, s, reading) => Object.entries(s.properties ?? {}).filter(([, p]) =>
	reading === undefined || !flatSchema(model, p)[reading ? 'writeOnly' : 'readOnly'])

// exampleOf returns an example of a media type or a parameter, undefined if there is none.
/**
 * @param {Model} model
 * @param {Exemplified | undefined} x
 */
export function exampleOf(model, x) {
	if (!x) return undefined
	if (x.example !== undefined) return x.example
	const first = model.resolve(Object.values(x.examples ?? {})[0])
	return first?.value ?? first?.dataValue
}

// sampleOf makes a value of a schema.
/**
 * @param {Model} model
 * @param {Schema} schema
 * @param {boolean} reading leaves out writeOnly members, false those that are readOnly
 * @returns {unknown}
 */
export function sampleOf(model, schema, reading, depth = 0) {
	const s = flatSchema(model, schema)
	if (depth > 9 || depth > 2 && nullable(s)) return null
	if (s.example !== undefined) return s.example
	if (Array.isArray(s.examples) && s.examples.length) return s.examples[0]
	if (s.default !== undefined) return s.default
	if (s.const !== undefined) return s.const
	if (s.enum?.length) return s.enum[0]
	const choice = s.oneOf ?? s.anyOf
	if (choice) return sampleOf(model, choice.find(c => c?.type !== 'null') ?? {}, reading, depth + 1)
	switch (typesOf(s)[0]) {
	case 'object':
		if (depth > 5) return {}
		return Object.fromEntries(membersOf(model, s, reading)
			.filter(([name]) => depth < 3 || s.required?.includes(name))
			.map(([name, p]) => [name, sampleOf(model, p, reading, depth + 1)]))
	case 'array': {
		const length = Number(s.maxItems ?? 1) === 0 || depth > 5 ? 0
			: Math.min(Math.max(Number(s.minItems ?? 1), 1), 20)
		return Array.from({ length }, () => sampleOf(model, s.items ?? {}, reading, depth + 1))
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

// sampleText makes a string of the format and the lengths of a schema. It names a pattern that it does
// not match.
/** @param {Schema} s */
function sampleText(s) {
	const low = Number(s.minLength ?? 0), high = Number(s.maxLength ?? Infinity)
	const forms = FORMATS.get(s.format ?? '')
	const value = forms?.find(v => v.length >= low && v.length <= high) ?? forms?.[0] ??
		'text'.padEnd(Math.min(low, 1000), 'x').slice(0, high)
	try {
		return !s.pattern || new RegExp(s.pattern, 'u').test(value) ? value : `matches ${s.pattern}`
	} catch {
		return `matches ${s.pattern}` // the pattern has syntax that JavaScript does not have
	}
}

// In OpenAPI 3.0, exclusive limits are boolean.
/**
 * @param {unknown} v
 * @returns {v is Numeric}
 */
export const isNumber = v => typeof v === 'number' || isExact(v)

/** @param {Numeric | boolean | undefined} v */
const limit = v => !isNumber(v) ? undefined : v instanceof Exact ? Number(v.source) : v

/**
 * @param {Schema} s
 * @returns {Numeric | undefined}
 */
function sampleNumber(s) {
	const low = limit(s.minimum), high = limit(s.maximum), by = Number(limit(s.multipleOf) ?? 0)
	const above = limit(s.exclusiveMinimum), below = limit(s.exclusiveMaximum), top = high ?? below
	if ([low, top, above, s.multipleOf].some(v => typeof v === 'bigint')) {
		const least = low ?? (typeof above === 'bigint' ? above + 1n : (above ?? 0) + 1)
		return least <= 1 && 1 <= (top ?? 1) ? 1 : least <= (top ?? least) ? least : top ?? least
	}
	const from = Number(above), to = Number(top ?? Infinity)
	const past = above === undefined ? undefined : from + 1 < to ? from + 1 : (from + to) / 2
	const most = Number(high ?? (below === undefined ? 1 : to - 1))
	const value = Number(low ?? past ?? Math.min(1, most))
	return by ? Math.ceil(value / by) * by : value === low ? s.minimum : value
}

/** @param {string} media */
export const isJSON = media => /[/+]json\b/.test(media)
// mediaTypes returns the media types of a content, vendor types last.
/** @param {Content | undefined} content */
export const mediaTypes = content => Object.keys(content ?? {})
	.sort((a, b) => Number(/\.v?\d/.test(a)) - Number(/\.v?\d/.test(b)))

const OPERATORS = /^(.+)\.(ne|in|notIn|lt|lte|gt|gte|contains|startsWith|endsWith|isNull)$/
// filtersOf groups parameters that filter by their field. The others are returned in rest.
/** @param {Parameter[]} parameters */
export function filtersOf(parameters) {
	/** @type {Map<string, { operator: string, p: Parameter }[]>} */
	const fields = new Map()
	const rest = [], queried = parameters.filter(p => p.in === 'query')
	const based = new Set(queried.map(p => OPERATORS.exec(p.name)?.[1]).filter(Boolean))
	for (const p of parameters) {
		const [, field = p.name, operator = 'eq'] = p.in === 'query' ? OPERATORS.exec(p.name) ?? [] : []
		if (p.in !== 'query' || !based.has(field)) rest.push(p)
		else fields.set(field, [...fields.get(field) ?? [], { operator, p }])
	}
	return { fields, rest }
}
