// Completions.
import { named, required } from './schema.js'
/** @import { Analysis, Choice, Context, Here, Kind, Schema, Type } from './types' */

// complete returns the completions at the position of an analysis, best first.
/**
 * @param {Here | null} here
 * @param {string} text
 * @param {number} caret
 * @param {Schema | null} schema
 * @param {Document} document
 * @returns {Choice[]}
 */
export function complete(here, text, caret, schema, document) {
	if (!here) return []
	const list = (choices[here.kind]?.(here, schema, document) ?? []).filter(x => x.label)
	const typed = text.slice(here.from, Math.min(caret, here.to)).replace(/^"/, '').toLowerCase()
	const rank = (/** @type {Choice} */ x) => {
		const label = x.label.toLowerCase(), at = label.indexOf(typed)
		const similar = typed[2] && typed[0] === label[0] && subsequence(typed, label)
		return (at === 0 ? 0 : at > 0 ? 1 : similar ? 2 : 9) + (x.old ? 0.5 : 0)
	}
	return list.map(x => ({ ...x, rank: rank(x) })).filter(x => x.rank < 9).sort((a, b) => a.rank - b.rank)
}

/** @type {(part: string, whole: string) => boolean} */
function subsequence(part, whole) {
	let at = -1
	return [...part].every(c => (at = whole.indexOf(c, at + 1)) >= 0)
}

// choices returns the completions of each kind of context.
/**
 * @typedef {Pick<Analysis, 'operations' | 'fragments'>} Document
 * @type {Record<string, (here: Context, schema: Schema | null, document: Document) => Choice[]>}
 */
const choices = {
	top: (_, schema) => [
		.../** @type {Kind[]} */ (['query', 'mutation', 'subscription'])
			.filter(k => !schema || schema.roots[k])
			.map(k => ({ label: k, insert: `${k} {\n  |\n}`, doc: schema?.roots[k]?.description })),
		{ label: 'fragment', insert: 'fragment | on ' },
	],
	on: () => [{ label: 'on', insert: 'on ' }],
	field({ parent }, schema) {
		if (!parent) return []
		const fields = [...parent.fields?.values() ?? []].map(f => {
			const deep = schema?.type(f.type)?.fields, args = [...f.args.values()].filter(required)
			const list = args.map((a, n) => `${a.name}: ${n ? '' : '|'}`).join(', ')
			const given = list && `(${list})`
			const insert = f.name + given + (deep && !given ? ' {\n  |\n}' : '')
			return { label: f.name, insert, detail: f.type, doc: f.description, old: f.isDeprecated }
		})
		const doc = 'The name of the type of this object.'
		return [...fields, { label: '__typename', detail: 'String!', doc }]
	},
	spread: ({ parent }, _, { fragments }) => [
		...[...fragments.values()].map(f => ({ label: f.name, detail: f.type })),
		{ label: 'on', insert: parent ? `on ${parent.name} {\n  |\n}` : 'on ' },
	],
	condition({ parent }, schema) {
		const possible = parent && schema?.objects(parent)
		return typesOf(schema, t => (t.fields || t.kind === 'UNION') && (possible
			? schema?.objects(t).some(name => possible.includes(name)) : !t.name.startsWith('__')))
	},
	inputType: (_, schema) =>
		typesOf(schema, t => !t.fields && !/UNION|INTERFACE/.test(t.kind) && !t.name.startsWith('__')),
	argument({ inputs, given, json }) {
		const left = [...inputs?.values() ?? []].filter(a => !given?.has(a.name))
		return left.map(a => ({
			label: a.name, insert: json ? `"${a.name}": |` : `${a.name}: |`, doc: a.description,
			detail: a.type + (a.defaultValue == null ? '' : ' = ' + a.defaultValue), old: a.isDeprecated,
		}))
	},
	value({ type, fixed, json }, schema, document) {
		const t = schema?.type(type), quote = json ? '"' : ''
		/** @type {Choice[]} */
		const values = [...t?.values.values() ?? []].map(v => ({
			label: v.name, insert: quote + v.name + quote,
			detail: t?.name, doc: v.description, old: v.isDeprecated,
		}))
		if (t?.name === 'Boolean') values.push({ label: 'true' }, { label: 'false' })
		if (t?.inputs.size) values.push({ label: '{ … }', insert: '{|}', detail: t.name, doc: t.description })
		if (type && !type.endsWith('!')) values.push({ label: 'null' })
		return fixed ? values : [...variablesFor(type, document, '$'), ...values]
	},
	variable: ({ type }, _, document) => variablesFor(type, document, ''),
	directive({ location = '' }, schema) {
		const all = [...schema?.directives.values() ?? []].filter(d => d.locations.includes(location))
		return all.map(d => {
			const first = [...d.args.values()].find(required)
			return { label: d.name, insert: d.name + (first ? `(${first.name}: |)` : ''), doc: d.description }
		})
	},
}

// variablesFor returns the variables that may have a type. sign precedes their names.
/** @type {(type: string | undefined, document: Document, sign: string) => Choice[]} */
const variablesFor = (type, { operations }, sign) => operations.flatMap(o => [...o.variables.values()])
	.filter(v => !type || !v.type || named(v.type) === named(type))
	.map(v => ({ label: sign + v.name, detail: v.type }))

/** @type {(schema: Schema | null, wanted: (t: Type) => unknown) => Choice[]} */
const typesOf = (schema, wanted) => [...schema?.types.values() ?? []].filter(wanted)
	.map(t => ({ label: t.name, detail: t.kind.toLowerCase().replace('_', ' '), doc: t.description }))
