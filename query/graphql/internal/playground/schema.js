// The schema, from introspection. Types of fields and arguments are texts as in documents, such as
// [Order!]!.
import { prettify } from './lex.js'
/**
 * @import {
 *   Field, InputValue, IntrospectedInput, Introspection, Kind, Schema, Type, TypeRef,
 * } from './types'
 */

export const INTROSPECTION = 'query IntrospectionQuery { __schema { description ' +
	'queryType { name } mutationType { name } subscriptionType { name } ' +
	'types { kind name description specifiedByURL isOneOf ' +
	'fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...I } ' +
	'type { ...R } isDeprecated deprecationReason } ' +
	'inputFields(includeDeprecated: true) { ...I } ' +
	'enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } ' +
	'interfaces { name } possibleTypes { name } } ' +
	'directives { name description locations isRepeatable args(includeDeprecated: true) { ...I } } } } ' +
	'fragment I on __InputValue ' +
	'{ name description type { ...R } defaultValue isDeprecated deprecationReason } ' +
	'fragment R on __Type { name kind ' + 'ofType { name kind '.repeat(8) + '}'.repeat(9)

/** @param {string} type */
export const named = type => type.replace(/[[\]!]/g, '')

/** @param {string} type */
export const an = type => (/^[AEIO]/.test(type) ? 'an ' : 'a ') + type

/** @param {string} type */
export const nullable = type => type.replace(/!$/, '')

/** @param {string} type */
export const elementOf = type => /^\[.*\]!?$/.test(type) ? type.replace(/^\[|\]!?$/g, '') : undefined

/** @param {InputValue} input */
export const required = input => input.type.endsWith('!') && input.defaultValue == null

/**
 * @template {{ name: string }} T
 * @param {T[] | null | undefined} list
 */
const byName = list => new Map((list ?? []).map(x => [x.name, x]))

// makeSchema returns the schema of a result of INTROSPECTION.
/**
 * @param {Introspection} introspection
 * @returns {Schema}
 */
export function makeSchema({ __schema: said }) {
	/** @type {(r: TypeRef) => string} */
	const written = r => r.kind === 'NON_NULL' ? written(r.ofType) + '!'
		: r.kind === 'LIST' ? '[' + written(r.ofType) + ']' : r.name
	const input = (/** @type {IntrospectedInput} */ x) => ({ ...x, type: written(x.type) })
	const types = byName(said.types.map(t => ({
		...t,
		fields: t.fields && byName(t.fields.map(f =>
			({ ...f, parent: t.name, type: written(f.type), args: byName(f.args.map(input)) }))),
		inputs: byName(t.inputFields?.map(input)),
		values: byName(t.enumValues),
	})))
	const root = (/** @type {{ name: string } | null | undefined} */ x) => x ? types.get(x.name) : undefined
	/** @type {(name: string, type: string, args?: InputValue[]) => Field} */
	const meta = (name, type, args) => ({ name, type, args: byName(args), parent: '', description: '' })
	return {
		description: said.description, types,
		directives: byName(said.directives.map(d => ({ ...d, args: byName(d.args.map(input)) }))),
		roots: {
			query: root(said.queryType), mutation: root(said.mutationType),
			subscription: root(said.subscriptionType),
		},
		type: ref => ref == null ? undefined : types.get(named(ref)),
		field(parent, name) {
			const isQuery = parent === this.roots.query
			if (name === '__typename') {
				return { ...meta(name, 'String!'), description: 'The name of the type of this object.' }
			}
			if (isQuery && name === '__schema') return meta(name, '__Schema!')
			if (isQuery && name === '__type') return meta(name, '__Type', [{ name: 'name', type: 'String!' }])
			return parent.fields?.get(name)
		},
		objects: type => type.possibleTypes?.length ? type.possibleTypes.map(t => t.name) : [type.name],
	}
}

// nearest returns the known name that is most similar to a misspelled one.
/**
 * @param {string} name
 * @param {Iterable<string>} known
 */
export function nearest(name, known) {
	let best = '', least = Math.max(2, name.length * 0.4) + 0.1
	for (const other of known) {
		const d = distance(name.toLowerCase(), other.toLowerCase())
		if (d < least) [best, least] = [other, d]
	}
	return best && ` Did you mean ${best}?`
}

/**
 * @param {string} a
 * @param {string} b
 */
function distance(a, b) {
	let row = [...Array(b.length + 1).keys()]
	for (let i = 1; i <= a.length; i++) {
		const next = [i]
		for (let j = 1; j <= b.length; j++) {
			const changed = a[i - 1] === b[j - 1] ? 0 : 1
			next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + changed)
		}
		row = next
	}
	return row[b.length]
}

// sample returns an operation for a field of a root, with its leaves and required variables.
/**
 * @param {Schema} schema
 * @param {Kind} kind
 * @param {Field} field
 */
export function sample(schema, kind, field) {
	/** @type {Record<string, unknown>} */
	const variables = {}
	const declared = [], given = []
	for (const a of field.args.values()) {
		if (required(a)) {
			declared.push(`$${a.name}: ${a.type}`)
			given.push(`${a.name}: $${a.name}`)
			variables[a.name] = example(schema, a.type, 0)
		} else if (a.name === 'first' && named(a.type) === 'Int') given.push('first: 5')
	}
	const list = (/** @type {string[]} */ x) => x.length ? `(${x.join(', ')})` : ''
	const title = field.name[0].toUpperCase() + field.name.slice(1)
	const name = kind === 'query' && !declared.length ? '' : ' ' + title
	return {
		query: prettify(`${kind}${name}${list(declared)} ` +
			`{ ${field.name}${list(given)} ${leaves(schema, field.type, 0)} }`),
		variables: declared.length ? JSON.stringify(variables, null, 2) : '',
	}
}

// leaves selects the first fields that have no fields, and descends into the nodes of a connection.
/**
 * @param {Schema} schema
 * @param {string} ref
 * @param {number} depth
 * @returns {string}
 */
function leaves(schema, ref, depth) {
	const type = schema.type(ref)
	if (!type?.fields) return type?.kind === 'UNION' ? '{ __typename }' : ''
	/** @type {string[]} */
	const chosen = []
	for (const f of type.fields.values()) {
		if (f.isDeprecated || [...f.args.values()].some(required)) continue
		if (!schema.type(f.type)?.fields) {
			if (chosen.length < 8) chosen.push(f.name)
		} else if (depth < 2 && f.name === 'nodes') {
			chosen.push(`${f.name} ${leaves(schema, f.type, depth + 1)}`)
		}
	}
	return `{ ${chosen.join(' ') || '__typename'} }`
}

/** @type {Record<string, unknown>} */
const EXAMPLES = {
	Int: 1, Int64: 1, Float: 1.5, Boolean: true, ID: '1', DateTime: '2026-01-01T00:00:00Z', JSON: {},
}

// example returns a value for a required variable.
/**
 * @param {Schema} schema
 * @param {string} ref
 * @param {number} depth
 * @returns {unknown}
 */
function example(schema, ref, depth) {
	const element = elementOf(ref)
	if (element) return depth > 3 ? [] : [example(schema, element, depth + 1)]
	const type = schema.type(ref)
	if (!type) return ''
	if (Object.hasOwn(EXAMPLES, type.name)) return EXAMPLES[type.name]
	if (type.values.size) return [...type.values.keys()][0]
	if (!type.inputs.size) return ''
	/** @type {Record<string, unknown>} */
	const value = {}
	for (const f of type.inputs.values()) {
		if (required(f) && depth < 4) value[f.name] = example(schema, f.type, depth + 1)
	}
	return value
}
