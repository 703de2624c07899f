// Variables and header fields under the caret, as JSON.
import { lexJSON } from '../../../../resource/httpbody/page/jsontext.js'
import { incomplete, mismatch } from './parse.js'
import { an, elementOf, nearest } from './schema.js'
/** @import { Token } from '../../../../resource/httpbody/page/types' */
/** @import { Analysis, Context, InputValue, Schema, Type } from './types' */

// analyseJSON reads variables or headers, as analyse reads a document. inputs has the members that
// the object may have. Without inputs only the syntax is checked.
/**
 * @param {string} text
 * @param {Schema | null} schema
 * @param {number} caret
 * @param {Map<string, InputValue>} [inputs]
 */
export function analyseJSON(text, schema, caret, inputs) {
	const tokens = lexJSON(text)
	/** @type {Analysis} */
	const result = { tokens, problems: [], operations: [], fragments: new Map(), here: null, thing: null }
	/** @type {Token} */
	const end = { k: 'end', s: text.length, e: text.length, v: 'the end' }
	let i = 0, broken = false
	const tok = () => tokens[i] ?? end
	/** @type {(t: Token, message: string, mild?: boolean) => void} */
	const problem = (t, message, mild) => {
		if (!broken) result.problems.push({ s: t.s, e: t.e, message, mild })
	}
	/**
	 * @param {string} wanted
	 * @returns {undefined}
	 */
	function syntax(wanted) {
		const at = tokens[Math.min(i, tokens.length - 1)] ?? end
		problem(at, `Expected ${wanted}, found ${tok().v.slice(0, 30)}.`)
		broken = true
	}
	const take = (/** @type {string} */ k, wanted = k) => tok().k === k ? tokens[i++] : syntax(wanted)
	/** @type {(kind: string, more?: Context) => void} */
	function may(kind, more) {
		const t = tok(), replaced = ['string', 'bad', 'constant'].includes(t.k) && t.s < caret && caret <= t.e
		if (replaced) result.here = { kind, json: true, from: t.s, to: t.e, ...more }
		else if (caret <= t.s && caret >= (tokens[i - 1]?.e ?? 0)) {
			result.here = { kind, json: true, from: caret, to: caret, ...more }
		}
	}

	// object reads an object. known has the members that it may have, and check reports what it lacks.
	/** @type {(known: Map<string, InputValue> | undefined, name: string, check: Check) => void} */
	function object(known, name, check) {
		const open = tok()
		take('{')
		/** @type {Set<string>} */
		const given = new Set()
		while (!broken && tok().k !== '}') {
			if (given.size) take(',', ', or }')
			if (broken) return
			may('argument', known && { inputs: known, given })
			const key = take('string', 'a name between quotation marks')
			if (!key) return
			key.c = 'field'
			const k = JSON.parse(key.v), input = known?.get(k)
			if (known && !input) {
				problem(key, `${name} has no ${k}.` + nearest(k, known.keys()), known === inputs)
			}
			if (given.has(k)) problem(key, `${k} is given twice.`)
			given.add(k)
			if (key.s <= caret && caret <= key.e && input) result.thing = { input }
			if (take(':')) value(input?.type)
		}
		take('}')
		check(given, message => problem(open, message))
	}
	/** @param {string} [ref] */
	function value(ref) {
		const t = tok(), type = schema?.type(ref), inner = ref ? elementOf(ref) : undefined
		const title = ref ? an(ref) : '', closed = type && (type.kind !== 'SCALAR' || SIMPLE.has(type.name))
		may('value', { type: ref, fixed: true })
		if (t.k === '[') {
			i++
			if (closed && !inner) problem(t, `This should be ${title}, not a list.`)
			for (let n = 0; !broken && tok().k !== ']'; n++) {
				if (n) take(',', ', or ]')
				if (!broken) value(inner)
			}
			take(']')
		} else if (t.v === 'null') {
			i++
			if (ref?.endsWith('!')) problem(t, `This should be ${title}, not null.`)
		} else if (inner) value(inner)
		else if (t.k === '{') {
			const known = type?.inputs.size ? type : undefined
			if (closed && !known) problem(t, `This should be ${title}, not an object.`)
			object(known?.inputs, known?.name ?? '', (given, report) => incomplete(known, given, report))
		} else if (['string', 'number', 'constant'].includes(t.k)) {
			i++
			const wrong = type && mismatchJSON(type, t)
			if (wrong) problem(t, wrong)
		} else syntax('a value')
	}

	/** @type {Check} */
	const needed = (given, report) => {
		for (const v of inputs?.values() ?? []) {
			if (v.needed && !given.has(v.name)) report(`$${v.name} needs a value: ${v.type}.`)
		}
	}
	if (!tokens.length) {
		may('nothing')
		needed(new Set(), message => problem(end, message))
	} else if (tok().k !== '{') syntax('{')
	else {
		object(inputs, 'The operation', (given, report) => {
			if (tok() !== end) syntax('nothing more')
			needed(given, report)
		})
	}
	return result
}

/** @typedef {(given: Set<string>, report: (message: string) => void) => void} Check */

const SIMPLE = new Set(['Int', 'Int64', 'Float', 'String', 'ID', 'Boolean'])

// mismatchJSON is mismatch for a token of JSON, where values of enums are strings.
/** @type {(type: Type, token: Token) => string} */
function mismatchJSON(type, { k, v }) {
	if (k === 'string' && type.values.size) return mismatch(type, { k: 'name', v: JSON.parse(v) })
	if (k === 'number') return mismatch(type, { k: /[.eE]/.test(v) ? 'float' : 'int', v })
	return mismatch(type, { k: k === 'constant' ? 'name' : k, v })
}
