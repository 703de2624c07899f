// Two versions side by side: operations that only one of them has, and the differences of the others.
import { make } from '../../httpbody/page/dom.js'
import { encode } from '../../httpbody/page/jsonvalue.js'
import { flatSchema, mediaTypes, membersOf, nullable, typesOf } from './model.js'
import { count } from './parts.js'
import { limitsOf } from './schema.js'
import { badge } from './views.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Content, Model, Operation, Schema } from './types' */

// linesOf describes a schema by lines: the path of each member, and its type and limits.
/**
 * @param {Model} model
 * @param {Schema} schema
 * @param {boolean} reading
 * @param {string} at
 * @param {Map<string, string>} out
 */
function linesOf(model, schema, reading, at, out = new Map(), depth = 0) {
	const s = flatSchema(model, schema)
	const values = s.enum ? ` ${s.enum.map(v => encode(v)).join(' | ')}` : ''
	const type = `${typesOf(s).join(' | ') || 'any'}${s.format ? ` (${s.format})` : ''}`
	out.set(at, [`${type}${nullable(s) ? ' or null' : ''}${values}`, ...limitsOf(s)].join(', '))
	if (depth > 6) return out
	for (const choice of s.oneOf ?? s.anyOf ?? []) {
		if (choice?.type !== 'null') linesOf(model, choice, reading, at, out, depth + 1)
	}
	for (const [key, p] of membersOf(model, s, reading)) {
		linesOf(model, p, reading, `${at}.${key}`, out, depth + 1)
		if (s.required?.includes(key)) out.set(`${at}.${key}`, out.get(`${at}.${key}`) + ', required')
	}
	if (s.items) linesOf(model, s.items, reading, `${at}[]`, out, depth + 1)
	return out
}

// operationLines describes an operation by lines. Parameters and media types that name the version are
// left out.
/**
 * @param {Model} model
 * @param {Operation} op
 */
function operationLines(model, op) {
	/** @type {Map<string, string>} */
	const out = new Map()
	for (const p of op.parameters.filter(p => !/version/i.test(p.name))) {
		for (const [at, text] of linesOf(model, p.schema ?? {}, false, `${p.in} ${p.name}`)) {
			out.set(at, text + (p.required ? ', required' : ''))
		}
	}
	/** @type {(content: Content | undefined, reading: boolean, at: string) => void} */
	const add = (content, reading, at) => {
		for (const media of mediaTypes(content).filter(m => !/\.v?\d/.test(m))) {
			linesOf(model, content?.[media].schema ?? {}, reading, `${at} ${media}`, out)
		}
	}
	add(op.body?.content, false, 'body')
	for (const r of op.responses) {
		out.set(`response ${r.status}`, 'possible')
		if (/^2/.test(r.status)) add(r.content, true, r.status)
	}
	if (op.deprecated) out.set('deprecated', 'yes')
	return out
}

// differences returns [path, here, there] of the lines that differ. A member that is absent hides its
// own members.
/**
 * @param {Map<string, string>} here
 * @param {Map<string, string>} there
 */
function differences(here, there) {
	/** @type {[string, string | undefined, string | undefined][]} */
	const out = []
	for (const at of new Set([...here.keys(), ...there.keys()])) {
		const a = here.get(at), b = there.get(at)
		const hidden = out.some(([path, x, y]) => (x === undefined) !== (y === undefined) &&
			(at.startsWith(path + '.') || at.startsWith(path + '[')))
		if (a !== b && !hidden) out.push([at, a, b])
	}
	return out
}

// compareView shows the differences between two documents.
/**
 * @param {Model} left
 * @param {Model} right
 * @param {HTMLElement} choose selects the other document
 * @returns {Children[]}
 */
export function compareView(left, right, choose) {
	const key = (/** @type {Operation} */ o) => `${o.method} ${o.path}`
	const side = (/** @type {Operation | undefined} */ o) =>
		make('span', { class: o ? '' : 'none' }, o ? 'available' : '–')
	/** @type {(x: string | undefined, other: string | undefined) => HTMLElement} */
	const cell = (x, other) =>
		make('dd', { class: x === undefined ? 'none' : other === undefined ? 'only' : '' }, x ?? '–')
	/** @type {HTMLElement[]} */
	const rows = []
	let equal = 0
	for (const name of new Set([...left.operations, ...right.operations].map(key))) {
		const a = left.operations.find(o => key(o) === name), b = right.operations.find(o => key(o) === name)
		const [method, path] = name.split(' ')
		if (method === 'OPTIONS') continue
		const title = make('h2', {}, badge(method), ' ', make('code', {}, path))
		if (!a || !b) {
			const sides = make('p', { class: 'sides' }, side(a), side(b))
			rows.push(make('section', { class: 'difference' }, title, sides))
			continue
		}
		const all = differences(operationLines(left, a), operationLines(right, b))
		if (!all.length) {
			equal++
			continue
		}
		rows.push(make('details', { class: 'difference', open: rows.length < 3 },
			make('summary', {}, title, count(all.length)),
			make('dl', {}, all.map(([at, x, y]) => [make('dt', {}, at), cell(x, y), cell(y, x)]))))
	}
	return [
		make('h1', {}, 'Compare versions'),
		make('div', { class: 'sides heads' }, make('b', {}, left.doc.info.version), choose),
		make('p', { class: 'faint' }, `${rows.length} operations differ, ${equal} are equal. ` +
			'Members are shown with their types and limits.'),
		rows,
	]
}
