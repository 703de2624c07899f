// Documents under the caret: what is wrong, what can follow, and what is defined.
import { lex } from './lex.js'
import { an, elementOf, named, nearest, nullable, required } from './schema.js'
/** @import { Token } from '../../../../resource/httpbody/page/types' */
/**
 * @import {
 *   Analysis, Context, Definition, Directive, Field, Fragment, Here, InputValue, Kind, Operation, Problem,
 *   Schema, Spread, Thing, Type, Use, Variable,
 * } from './types'
 */

// analyse parses and validates a document, against a schema if there is one. After an error it
// continues. It returns the problems in the order of the document, the operations, the context for
// completions at the caret, and the definition at the caret.
//
// It is a recursive descent parser. Before a function reads a token, it calls may with the possible
// tokens.
/**
 * @param {string} text
 * @param {Schema | null} schema
 * @returns {Analysis}
 */
export function analyse(text, schema, caret = -1) {
	const all = lex(text), tokens = all.filter(t => t.k !== 'comment')
	/** @type {Token} */
	const end = { k: 'end', s: text.length, e: text.length, v: '' }
	/** @type {Problem[]} */
	const problems = []
	/** @type {Operation[]} */
	const operations = []
	/** @type {Map<string, Fragment>} */
	const fragments = new Map()
	/** @type {(Operation | Fragment)[]} */
	const definitions = []
	let i = 0, asked = -1, broken = false
	/** @type {Here | null} */
	let here = null
	/** @type {Thing | null} */
	let thing = null
	/** @type {Use[]} */
	let uses = []
	/** @type {Spread[]} */
	let spreads = []

	const tok = () => tokens[i] ?? end
	const is = (/** @type {string} */ kind) => tok().k === kind
	const word = (/** @type {string} */ v) => is('name') && tok().v === v
	/** @type {(t: { s: number, e: number } | undefined, message: string, more?: Partial<Problem>) => void} */
	const problem = (t, message, more) => {
		if (t && !broken && problems.length < 200) problems.push({ s: t.s, e: t.e, message, ...more })
	}
	/** @type {(name: string, known: Iterable<string>) => string} */
	const near = (name, known) => problems.length < 50 ? nearest(name, known) : ''

	/**
	 * @param {string} wanted
	 * @returns {undefined}
	 */
	function syntax(wanted) {
		const t = tok(), isString = t.k === 'bad' && t.v[0] === '"'
		const found = t === end ? 'the end' : isString
			? 'a string that does not end, or has a backslash before what needs none' : t.v
		const at = tokens[Math.min(i, tokens.length - 1)] ?? end
		problem(at, `Expected ${wanted}, found ${found}.`, { syntax: true })
		broken = true
	}
	/**
	 * @param {string} kind
	 * @param {string} [c]
	 */
	function take(kind, wanted = kind, c) {
		if (!is(kind)) return syntax(wanted)
		const t = tokens[i++]
		if (c) t.c = c
		return t
	}
	// may records the completions before or in place of the next token, if the caret is there. The
	// first call for a token is the most specific one.
	/**
	 * @param {string} kind
	 * @param {Context} [more]
	 */
	function may(kind, more) {
		const t = tok(), last = tokens[i - 1]
		if (asked === i) return
		asked = i
		const after = caret >= (last?.e ?? 0) && !(last?.k === 'name' && caret === last.e)
		if (is('name') && t.s <= caret && caret <= t.e) here = { kind, from: t.s, to: t.e, ...more }
		else if (caret <= t.s && after) here = { kind, from: caret, to: caret, ...more }
	}
	/** @type {(t: Token | undefined, definition: Thing) => void} */
	const about = (t, definition) => { if (t && t.s <= caret && caret <= t.e) thing = definition }
	/** @type {(t: Token, x: Definition | undefined, what: string) => void} */
	function deprecated(t, x, what) {
		if (!x?.isDeprecated) return
		t.c += ' old'
		const reason = x.deprecationReason ? ': ' + x.deprecationReason : '.'
		problem(t, `${what} is deprecated${reason}`, { mild: true })
	}

	function document() {
		while (tok() !== end) {
			may('top')
			if (is('{') || ['query', 'mutation', 'subscription'].includes(tok().v)) operation()
			else if (word('fragment')) fragment()
			else {
				syntax('a query, mutation, subscription or fragment')
				i++
			}
		}
		may('top')
		if (!definitions.length && tokens.length === 0) return
		together()
	}

	function operation() {
		const first = tok()
		/** @type {Operation} */
		const op = { kind: 'query', name: '', s: first.s, e: first.e, variables: new Map(),
			spreads: spreads = [], uses: uses = [] }
		if (!is('{')) {
			op.kind = /** @type {Kind} */ (first.v)
			take('name', '', 'keyword')
			if (is('name')) op.at = take('name', '', 'definition')
			op.name = op.at?.v ?? ''
			if (is('(')) variables(op)
			directives(op.kind.toUpperCase())
		}
		op.at ??= first
		const type = schema?.roots[op.kind]
		if (schema && !type) problem(first, `This schema has no ${op.kind}.`)
		selections(type)
		op.e = tokens[i - 1].e
		if (operations.some(o => o.name && o.name === op.name)) {
			problem(op.at, `There is another operation named ${op.name}.`)
		}
		operations.push(op)
		definitions.push(op)
	}

	/** @param {Operation} op */
	function variables(op) {
		take('(')
		if (is(')')) syntax('a variable')
		while (is('$')) {
			const dollar = tok()
			take('$', '$', 'variable')
			const name = take('name', 'a name', 'variable')
			if (!name) break
			take(':')
			const from = tok()
			/** @type {Variable} */
			const v = { name: name.v, type: typeRef(), s: dollar.s, e: name.e }
			if (schema && v.type) {
				const type = schema.type(v.type), title = named(v.type)
				if (!type) problem(from, `There is no type ${title}.` + near(title, inputTypes(schema)))
				else if (type.fields) problem(from, `${title} is not an input type.`)
			}
			if (is('=')) {
				take('=')
				v.fallback = tok().v
				value(v.type, true)
			}
			directives('VARIABLE_DEFINITION')
			if (op.variables.has(v.name)) problem(v, `There is another variable $${v.name}.`)
			op.variables.set(v.name, v)
		}
		take(')', 'a variable or )')
	}
	const inputTypes = (/** @type {Schema} */ { types }) =>
		[...types.values()].filter(t => !t.fields && !/^(UNION|INTERFACE)$/.test(t.kind)).map(t => t.name)

	/** @returns {string | undefined} */
	function typeRef() {
		/** @type {string | undefined} */
		let type
		if (is('[')) {
			i++
			type = `[${typeRef()}]`
			take(']')
		} else {
			may('inputType')
			const t = take('name', 'a type', 'type')
			about(t, { type: t?.v })
			type = t?.v
		}
		if (type && is('!')) {
			i++
			type += '!'
		}
		return type
	}

	function fragment() {
		/** @type {Fragment} */
		const f = { name: '', spreads: spreads = [], uses: uses = [] }
		take('name', '', 'keyword')
		f.at = take('name', 'a name', 'definition')
		f.name = f.at?.v ?? ''
		const type = condition()
		directives('FRAGMENT_DEFINITION')
		f.type = type?.name
		selections(type)
		if (!f.at) return
		if (fragments.has(f.name)) problem(f.at, `There is another fragment named ${f.name}.`)
		fragments.set(f.name, f)
		definitions.push(f)
	}

	/** @param {Type} [parent] */
	function condition(parent) {
		if (!word('on')) {
			may('on')
			return syntax('on')
		}
		take('name', '', 'keyword')
		may('condition', { parent })
		const t = take('name', 'a type', 'type'), type = t && schema?.types.get(t.v)
		about(t, { type: t?.v })
		if (schema && t && !type) problem(t, `There is no type ${t.v}.` + near(t.v, schema.types.keys()))
		else if (type && !composite(type)) problem(t, `${t.v} has no fields.`)
		return type
	}
	const composite = (/** @type {Type} */ type) => type.fields || type.kind === 'UNION'

	/** @param {Type} [parent] */
	function selections(parent) {
		const open = take('{', '{ with fields in it')
		if (!open) return
		may('field', { parent })
		if (is('}')) syntax('a field')
		while (!is('}') && tok() !== end) {
			may('field', { parent })
			if (is('...')) spread(parent)
			else if (is('name')) field(parent)
			else {
				syntax('a field or }')
				if (is('{') || is('(')) return selectionsAfter()
				i++
			}
		}
		may('field', { parent })
		take('}')
	}
	// selectionsAfter continues after a syntax error.
	function selectionsAfter() {
		i++
		while (!is('}') && tok() !== end) i++
		if (is('}')) i++
	}

	/** @param {Type} [parent] */
	function spread(parent) {
		take('...')
		may('spread', { parent })
		if (is('name') && !word('on')) {
			spreads.push({ t: tok(), parent })
			take('name', '', 'definition')
			directives('FRAGMENT_SPREAD')
			return
		}
		const on = word('on') ? tokens[i + 1] : null
		const type = on ? condition(parent) : parent
		if (type && parent && on) overlap(on, type, parent)
		directives('INLINE_FRAGMENT')
		selections(type)
	}
	/** @type {(t: Token, type: Type, parent: Type) => void} */
	function overlap(t, type, parent) {
		if (!schema || !composite(type) || !composite(parent)) return
		const can = schema.objects(parent)
		if (!schema.objects(type).some(name => can.includes(name))) {
			problem(t, `${parent.name} is never ${an(type.name)}.`)
		}
	}

	/** @param {Type} [parent] */
	function field(parent) {
		let t = take('name', 'a field', 'field')
		if (!t) return
		if (is(':')) {
			t.c = 'alias'
			i++
			may('field', { parent })
			t = take('name', 'a field', 'field')
			if (!t) return
		}
		const f = parent && schema?.field(parent, t.v)
		about(t, { field: f, parent })
		if (parent && !f) {
			problem(t, `${parent.name} has no field ${t.v}.` + near(t.v, parent.fields?.keys() ?? []))
		}
		deprecated(t, f, `${parent?.name}.${t.v}`)
		args(t, f)
		directives('FIELD')
		const type = f && schema?.type(f.type)
		if (is('{')) {
			const isComposite = type && composite(type)
			if (type && !isComposite) problem(t, `${t.v} is ${an(f.type)}, which has no fields to select.`)
			selections(isComposite ? type : undefined)
		} else if (type && composite(type)) {
			problem(t, `${t.v} is ${an(f.type)}: select some of its fields, as in ${t.v} { … }.`)
		}
	}

	// args reads the arguments of a field or a directive with the definition owner.
	/** @type {(t: Token, owner?: Field | Directive, fixed?: boolean) => void} */
	function args(t, owner, fixed) {
		const title = t.c?.startsWith('directive') ? '@' + t.v : t.v
		/** @type {Set<string>} */
		const given = new Set()
		if (is('(')) {
			i++
			const left = () => owner && { inputs: owner.args, given }
			if (is(')')) syntax('an argument')
			while (!is(')') && tok() !== end) {
				may('argument', left())
				const name = take('name', 'an argument or )', 'argument')
				if (!name) break
				const a = owner?.args.get(name.v)
				const of = owner && 'type' in owner ? { field: owner } : { directive: owner }
				about(name, { input: a, ...of })
				if (owner && !a) {
					problem(name, `${title} has no argument ${name.v}.` + near(name.v, owner.args.keys()))
				}
				if (given.has(name.v)) problem(name, `${name.v} is given twice.`)
				given.add(name.v)
				deprecated(name, a, `Argument ${name.v}`)
				take(':')
				value(a?.type, fixed, a)
			}
			may('argument', left())
			take(')')
		}
		const missing = owner ? [...owner.args.values()].filter(a => required(a) && !given.has(a.name)) : []
		for (const a of missing) problem(t, `${title} needs the argument ${a.name}: ${a.type}.`)
	}

	/** @param {string} location */
	function directives(location) {
		const seen = new Set()
		while (is('@')) {
			i++
			tokens[i - 1].c = 'directive'
			may('directive', { location })
			const t = take('name', 'the name of a directive', 'directive')
			if (!t) return
			const d = schema?.directives.get(t.v)
			about(t, { directive: d })
			const known = schema?.directives.keys()
			if (known && !d) problem(t, `There is no directive @${t.v}.` + near(t.v, known))
			else if (d && !d.locations.includes(location)) problem(t, `@${t.v} is not allowed here.`)
			if (d && !d.isRepeatable && seen.has(t.v)) problem(t, `@${t.v} is given twice.`)
			seen.add(t.v)
			args(t, d, location === 'VARIABLE_DEFINITION')
		}
	}

	// value reads a value of the expected type; input is the definition of its argument, field or variable.
	/** @type {(type?: string, fixed?: boolean, input?: InputValue) => void} */
	function value(type, fixed, input) {
		const t = tok(), title = type ? an(type) : ''
		const kind = schema?.type(type), inner = type ? elementOf(type) : undefined
		may('value', { type, fixed })
		if (t.k === '$') {
			i++
			t.c = 'variable'
			may('variable', { type, fixed })
			const name = take('name', 'the name of a variable', 'variable')
			if (fixed) problem(t, 'A variable is not allowed here.')
			else if (name) uses.push({ s: t.s, e: name.e, name: name.v, type, input })
		} else if (t.k === '[') {
			i++
			if (kind && !inner && (kind.kind !== 'SCALAR' || standard(kind))) {
				problem(t, `This should be ${title}, not a list.`)
			}
			const element = inner ?? (kind?.kind === 'SCALAR' ? undefined : type)
			while (!is(']') && tok() !== end && !broken) value(element, fixed)
			may('value', { type: inner, fixed })
			take(']')
		} else if (word('null')) {
			take('name', '', 'constant')
			if (type?.endsWith('!')) problem(t, `This should be ${title}, not null.`)
		} else if (inner) value(inner, fixed)
		else if (t.k === '{') object(title, kind, fixed)
		else if (['int', 'float', 'string', 'name'].includes(t.k)) {
			i++
			const isConstant = /^(true|false)$/.test(t.v)
			t.c = t.k === 'string' ? 'string' : t.k !== 'name' ? 'number' : isConstant ? 'constant' : 'enum'
			const wrong = kind && mismatch(kind, t)
			if (wrong) problem(t, wrong)
			const v = kind?.values.get(t.v)
			about(t, v ? { value: v, type: kind?.name } : { input })
			deprecated(t, v, t.v)
		} else {
			syntax('a value')
			if (t !== end && !/[)\]}]/.test(t.k)) i++
		}
	}
	const standard = (/** @type {Type} */ { name }) =>
		['Int', 'Float', 'String', 'Boolean', 'ID', 'Int64'].includes(name)

	// object reads an object. title describes the type that the value should have.
	/** @type {(title: string, kind?: Type, fixed?: boolean) => void} */
	function object(title, kind, fixed) {
		const open = tok()
		take('{')
		/** @type {Set<string>} */
		const given = new Set()
		const known = kind?.inputs.size ? kind : undefined
		if (kind && !known && (kind.kind !== 'SCALAR' || standard(kind))) {
			problem(open, `This should be ${title}, not an object.`)
		}
		const left = () => known && { inputs: known.inputs, given }
		while (!is('}') && tok() !== end) {
			may('argument', left())
			const name = take('name', 'a field or }', 'argument')
			if (!name) break
			const f = known?.inputs.get(name.v)
			about(name, { input: f, type: known?.name })
			if (known && !f) {
				problem(name, `${known.name} has no field ${name.v}.` + near(name.v, known.inputs.keys()))
			}
			if (given.has(name.v)) problem(name, `${name.v} is given twice.`)
			given.add(name.v)
			deprecated(name, f, `${known?.name}.${name.v}`)
			take(':')
			value(f?.type, fixed, f)
		}
		may('argument', left())
		take('}')
		incomplete(known, given, message => problem(open, message))
	}

	// together checks what needs the whole document: names across definitions, and variables through
	// fragments.
	function together() {
		if (broken) return
		for (const o of operations) {
			if (operations.length > 1 && !o.name) problem(o.at, 'Of several operations each needs a name.')
		}
		const used = new Set()
		for (const d of definitions) for (const s of d.spreads) spreadOf(s)
		for (const f of fragments.values()) {
			if (reach(f).has(f)) problem(f.at, `Fragment ${f.name} contains itself.`)
		}
		for (const op of operations) {
			const asked = new Set()
			for (const d of [op, ...reach(op)]) {
				used.add(d)
				for (const u of d.uses) {
					asked.add(u.name)
					usage(u, op)
				}
			}
			for (const v of op.variables.values()) {
				if (!asked.has(v.name)) problem(v, `$${v.name} is not used.`)
			}
		}
		for (const f of fragments.values()) {
			if (!used.has(f)) problem(f.at, `Fragment ${f.name} is not used.`)
		}
		problems.sort((a, b) => a.s - b.s)
	}
	/** @param {Spread} spread */
	function spreadOf({ t, parent }) {
		const f = fragments.get(t.v), type = schema?.types.get(f?.type ?? '')
		if (!f) problem(t, `There is no fragment ${t.v}.` + near(t.v, fragments.keys()))
		else if (type && parent) overlap(t, type, parent)
	}
	// reach returns the fragments that a definition uses, through others as well.
	/** @type {(d: Operation | Fragment, seen?: Set<Fragment>) => Set<Fragment>} */
	function reach(d, seen = new Set()) {
		for (const { t } of d.spreads) {
			const f = fragments.get(t.v)
			if (f && !seen.has(f)) reach(f, seen.add(f))
		}
		return seen
	}
	/** @type {(u: Use, op: Operation) => void} */
	function usage(u, op) {
		const v = op.variables.get(u.name), by = op.name ? ' by ' + op.name : ''
		if (!v) return problem(u, `$${u.name} is not declared${by}.` + near(u.name, op.variables.keys()))
		if (!schema || !u.type || !v.type || !schema.type(v.type)) return
		const hasDefault = u.input?.defaultValue != null || (v.fallback && v.fallback !== 'null')
		const softened = u.type.endsWith('!') && !v.type.endsWith('!') && hasDefault
		if (!fits(v.type, softened ? nullable(u.type) : u.type)) {
			problem(u, `$${u.name} is ${an(v.type)}, but this should be a ${u.type}.`)
		}
	}

	document()
	const inside = all.some(t => ['comment', 'string', 'bad'].includes(t.k) && t.s < caret &&
		(caret < t.e || (t.k === 'comment' && caret === t.e)))
	return { tokens: all, problems, operations, fragments, here: inside ? null : here, thing }
}

// fits reports whether a variable of a type is allowed in a position of another type (GraphQL
// specification, section 5.8.5).
/** @type {(given: string, wanted: string) => boolean} */
function fits(given, wanted) {
	if (wanted.endsWith('!')) return given.endsWith('!') && fits(nullable(given), nullable(wanted))
	given = nullable(given)
	const a = elementOf(given), b = elementOf(wanted)
	return a && b ? fits(a, b) : !a && !b && given === wanted
}

// mismatch returns why a token is not a value of a leaf type, or an empty text if it is one.
/** @type {(type: Type, token: { k: string, v: string }) => string} */
export function mismatch(type, { k, v }) {
	const wanted = `This should be ${an(type.name)}`
	if (type.values.size) {
		if (k !== 'name') return `${wanted}. One of ${[...type.values.keys()].slice(0, 6).join(', ')}.`
		return type.values.has(v) ? '' : `${wanted}.` + nearest(v, type.values.keys())
	}
	if (type.inputs.size) return `${wanted}: { … }.`
	const ok = {
		Int: k === 'int' && Math.abs(Number(v)) <= 2147483648 - (v[0] === '-' ? 0 : 1), Int64: k === 'int',
		Float: k === 'int' || k === 'float', String: k === 'string', ID: k === 'string' || k === 'int',
		Boolean: v === 'true' || v === 'false',
	}[type.name]
	return ok ?? true ? '' : wanted + '.'
}

// incomplete reports the required fields that an input object does not have.
/** @type {(type: Type | undefined, given: Set<string>, report: (message: string) => void) => void} */
export function incomplete(type, given, report) {
	if (!type) return
	for (const f of type.inputs.values()) {
		if (required(f) && !given.has(f.name)) report(`${type.name} needs ${f.name}: ${f.type}.`)
	}
	if (type.isOneOf && given.size !== 1) report(`${type.name} takes exactly one field.`)
}
