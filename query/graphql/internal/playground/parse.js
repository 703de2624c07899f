// analyse parses and validates a document, against a schema if there is one. After an error it continues. It returns the
// problems, the operations, the possible completions at the caret, and the definition at the caret.
//
//   problems    {s, e, message, mild}, in the order of the document
//   operations  {kind, name, s, e, variables: Map of {name, type, fallback}}
//   here        {kind, from, to, ...}: the context for complete
//   thing       {type} or {field, parent} or {input} or {value} or {directive}: the definition that the docs can show
//
// It is a recursive descent parser. Before a function reads a token, it calls may with the possible tokens.
function analyse(text, schema, caret = -1) {
	const all = lex(text), tokens = all.filter(t => t.k !== 'comment')
	const end = { k: 'end', s: text.length, e: text.length, v: '' }
	const problems = [], operations = [], fragments = new Map(), definitions = []
	let i = 0, here = null, thing = null, broken = null, uses = [], spreads = []
	const result = { tokens: all, problems, operations, fragments, here: null, thing: null }

	const tok = () => tokens[i] ?? end
	const is = kind => tok().k === kind
	const word = v => is('name') && tok().v === v
	const problem = (t, message, more) => { if (!broken && problems.length < 200) problems.push({ s: t.s, e: t.e, message, ...more }) }

	const near = (name, known) => problems.length < 50 ? nearest(name, known) : ''

	function syntax(wanted) {
		const t = tok()
		const found = t.k === 'end' ? 'the end' : t.k === 'bad' && t.v[0] === '"' ? 'a string that does not end, or has a backslash before what needs none' : t.v
		problem(t.k === 'end' && tokens.length ? tokens.at(-1) : t, `Expected ${wanted}, found ${found}.`, { syntax: true })
		broken = t
	}
	function take(kind, wanted = kind, c) {
		if (!is(kind)) return syntax(wanted)
		const t = tokens[i++]
		if (c) t.c = c
		return t
	}
	// may records the completions before or in place of the next token, if the caret is there. The first call for a token is the
	// most specific one.
	let asked = -1
	function may(kind, more) {
		const t = tok(), last = tokens[i - 1]
		if (asked === i) return
		asked = i
		if (is('name') && t.s <= caret && caret <= t.e) here = { kind, from: t.s, to: t.e, ...more }
		else if (caret <= t.s && caret >= (last?.e ?? 0) && !(last?.k === 'name' && caret === last.e)) here = { kind, from: caret, to: caret, ...more }
	}
	const about = (t, what) => { if (t && t.s <= caret && caret <= t.e) thing = what }
	function deprecated(t, x, what) {
		if (!x?.isDeprecated) return
		t.c += ' old'
		problem(t, `${what} is deprecated${x.deprecationReason ? ': ' + x.deprecationReason : '.'}`, { mild: true })
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
		const first = tok(), op = { kind: 'query', name: '', s: first.s, variables: new Map(), spreads: spreads = [], uses: uses = [] }
		if (!is('{')) {
			op.kind = take('name', '', 'keyword').v
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
		if (operations.some(o => o.name && o.name === op.name)) problem(op.at, `There is another operation named ${op.name}.`)
		operations.push(op)
		definitions.push(op)
	}

	function variables(op) {
		take('(')
		if (is(')')) syntax('a variable')
		while (is('$')) {
			const dollar = take('$', '$', 'variable'), name = take('name', 'a name', 'variable')
			if (!name) break
			take(':')
			const from = tok()
			const v = { name: name.v, type: typeRef(), s: dollar.s, e: name.e }
			if (schema && v.type && !schema.type(v.type)) problem(from, `There is no type ${named(v.type)}.` + near(named(v.type), inputTypes()))
			else if (schema && v.type && schema.type(v.type).fields) problem(from, `${named(v.type)} is not an input type.`)
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
	const inputTypes = () => [...schema.types.values()].filter(t => !t.fields && t.kind !== 'UNION' && t.kind !== 'INTERFACE').map(t => t.name)

	function typeRef() {
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
		const f = { s: tok().s, spreads: spreads = [], uses: uses = [] }
		take('name', '', 'keyword')
		f.at = take('name', 'a name', 'definition')
		f.name = f.at?.v
		const type = condition()
		directives('FRAGMENT_DEFINITION')
		f.type = type?.name
		selections(type)
		if (!f.at) return
		if (fragments.has(f.name)) problem(f.at, `There is another fragment named ${f.name}.`)
		fragments.set(f.name, f)
		definitions.push(f)
	}

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
	const composite = type => type.fields || type.kind === 'UNION'

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
				if (is('{') || is('(')) return selectionsAfter(parent)
				i++
			}
		}
		may('field', { parent })
		take('}')
	}
	// selectionsAfter continues after a syntax error.
	function selectionsAfter(parent) {
		i++
		while (!is('}') && tok() !== end) i++
		if (is('}')) i++
	}

	function spread(parent) {
		take('...')
		may('spread', { parent })
		if (is('name') && !word('on')) {
			const t = take('name', '', 'definition')
			spreads.push({ t, parent })
			directives('FRAGMENT_SPREAD')
			return
		}
		const on = word('on') ? tokens[i + 1] : null
		const type = on ? condition(parent) : parent
		if (type && parent && on) overlap(on, type, parent)
		directives('INLINE_FRAGMENT')
		selections(type)
	}
	function overlap(t, type, parent) {
		if (!composite(type) || !composite(parent)) return
		const can = schema.objects(parent)
		if (!schema.objects(type).some(name => can.includes(name))) problem(t, `${parent.name} is never ${an(type.name)}.`)
	}

	function field(parent) {
		let t = take('name', 'a field', 'field')
		if (is(':')) {
			t.c = 'alias'
			i++
			may('field', { parent })
			t = take('name', 'a field', 'field')
			if (!t) return
		}
		const f = parent && schema.field(parent, t.v)
		about(t, { field: f, parent })
		if (parent && !f) problem(t, `${parent.name} has no field ${t.v}.` + near(t.v, parent.fields?.keys() ?? []))
		deprecated(t, f, `${parent?.name}.${t.v}`)
		args(t, f)
		directives('FIELD')
		const type = f && schema.type(f.type)
		if (is('{')) {
			if (type && !composite(type)) problem(t, `${t.v} is ${an(f.type)}, which has no fields to select.`)
			selections(type && composite(type) ? type : undefined)
		} else if (type && composite(type)) problem(t, `${t.v} is ${an(f.type)}: select some of its fields, as in ${t.v} { … }.`)
	}

	// args reads the arguments of a field or a directive with the definition owner.
	function args(t, owner, fixed) {
		const given = new Set(), title = t.c.startsWith('directive') ? '@' + t.v : t.v
		if (is('(')) {
			i++
			const left = () => owner && { inputs: owner.args, given }
			if (is(')')) syntax('an argument')
			while (!is(')') && tok() !== end) {
				may('argument', left())
				const name = take('name', 'an argument or )', 'argument')
				if (!name) break
				const a = owner?.args.get(name.v)
				about(name, { input: a, field: owner })
				if (owner && !a) problem(name, `${title} has no argument ${name.v}.` + near(name.v, owner.args.keys()))
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
			if (schema && !d) problem(t, `There is no directive @${t.v}.` + near(t.v, schema.directives.keys()))
			else if (d && !d.locations.includes(location)) problem(t, `@${t.v} is not allowed here.`)
			if (d && !d.isRepeatable && seen.has(t.v)) problem(t, `@${t.v} is given twice.`)
			seen.add(t.v)
			args(t, d, location === 'VARIABLE_DEFINITION')
		}
	}

	// value reads a value of the expected type; input is the definition of its argument, field or variable.
	function value(type, fixed, input) {
		const t = tok(), kind = type && schema?.type(type), inner = type && elementOf(type)
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
			if (kind && !inner && kind.kind !== 'SCALAR') problem(t, `This should be ${an(type)}, not a list.`)
			else if (kind && !inner && standard(kind)) problem(t, `This should be ${an(type)}, not a list.`)
			while (!is(']') && tok() !== end && !broken) value(inner ?? (kind?.kind === 'SCALAR' ? undefined : type), fixed)
			may('value', { type: inner, fixed })
			take(']')
		} else if (word('null')) {
			take('name', '', 'constant')
			if (type?.endsWith('!')) problem(t, `This should be ${an(type)}, not null.`)
		} else if (inner) value(inner, fixed)
		else if (t.k === '{') object(type, kind, fixed)
		else if (['int', 'float', 'string', 'name'].includes(t.k)) {
			i++
			t.c = { int: 'number', float: 'number', string: 'string' }[t.k] ?? (/^(true|false)$/.test(t.v) ? 'constant' : 'enum')
			const wrong = kind && mismatch(kind, t)
			if (wrong) problem(t, wrong)
			const v = kind?.values.get(t.v)
			about(t, v ? { value: v, type: kind.name } : { input })
			deprecated(t, v, t.v)
		} else {
			syntax('a value')
			if (t !== end && !/[)\]}]/.test(t.k)) i++
		}
	}
	const standard = type => ['Int', 'Float', 'String', 'Boolean', 'ID', 'Int64'].includes(type.name)

	function object(type, kind, fixed) {
		const open = take('{'), given = new Set()
		const known = kind?.inputs.size ? kind : undefined
		if (kind && !known && (kind.kind !== 'SCALAR' || standard(kind))) problem(open, `This should be ${an(type)}, not an object.`)
		const left = () => known && { inputs: known.inputs, given }
		while (!is('}') && tok() !== end) {
			may('argument', left())
			const name = take('name', 'a field or }', 'argument')
			if (!name) break
			const f = known?.inputs.get(name.v)
			about(name, { input: f, type: known?.name })
			if (known && !f) problem(name, `${known.name} has no field ${name.v}.` + near(name.v, known.inputs.keys()))
			if (given.has(name.v)) problem(name, `${name.v} is given twice.`)
			given.add(name.v)
			deprecated(name, f, `${known?.name}.${name.v}`)
			take(':')
			value(f?.type, fixed, f)
		}
		may('argument', left())
		take('}')
		incomplete(known, given, (message) => problem(open, message))
	}

	// together checks what needs the whole document: names across definitions, and variables through fragments.
	function together() {
		if (broken) return
		if (operations.length > 1) for (const o of operations) if (!o.name) problem(o.at, 'Of several operations each needs a name.')
		const used = new Set()
		for (const d of definitions) for (const { t, parent } of d.spreads) spreadOf(t, parent)
		for (const f of fragments.values()) if (reach(f).has(f)) problem(f.at, `Fragment ${f.name} contains itself.`)
		for (const op of operations) {
			const asked = new Set()
			for (const d of [op, ...reach(op)]) {
				used.add(d)
				for (const u of d.uses) {
					asked.add(u.name)
					usage(u, op)
				}
			}
			for (const v of op.variables.values()) if (!asked.has(v.name)) problem(v, `$${v.name} is not used.`)
		}
		for (const f of fragments.values()) if (!used.has(f)) problem(f.at, `Fragment ${f.name} is not used.`)
		problems.sort((a, b) => a.s - b.s)
	}
	function spreadOf(t, parent) {
		const f = fragments.get(t.v), type = schema?.types.get(f?.type)
		if (!f) problem(t, `There is no fragment ${t.v}.` + near(t.v, fragments.keys()))
		else if (type && parent) overlap(t, type, parent)
	}
	function reach(d, seen = new Set()) {
		for (const { t } of d.spreads) {
			const f = fragments.get(t.v)
			if (f && !seen.has(f)) reach(f, seen.add(f))
		}
		return seen
	}
	function usage(u, op) {
		const v = op.variables.get(u.name)
		if (!v) return problem(u, `$${u.name} is not declared${op.name ? ' by ' + op.name : ''}.` + near(u.name, op.variables.keys()))
		if (!schema || !u.type || !v.type || !schema.type(v.type)) return
		const softened = u.type.endsWith('!') && !v.type.endsWith('!') && (u.input?.defaultValue != null || (v.fallback && v.fallback !== 'null'))
		if (!fits(v.type, softened ? nullable(u.type) : u.type)) problem(u, `$${u.name} is ${an(v.type)}, but this should be a ${u.type}.`)
	}

	document()
	const inside = all.find(t => (t.k === 'comment' || t.k === 'string' || t.k === 'bad') && t.s < caret && (caret < t.e || (t.k === 'comment' && caret === t.e)))
	result.here = inside ? null : here
	result.thing = thing
	return result
}

// fits reports whether a variable of a type is allowed in a position of another type (GraphQL specification, section 5.8.5).
function fits(given, wanted) {
	if (wanted.endsWith('!')) return given.endsWith('!') && fits(nullable(given), nullable(wanted))
	given = nullable(given)
	const a = elementOf(given), b = elementOf(wanted)
	return a && b ? fits(a, b) : !a && !b && given === wanted
}

// mismatch returns why a token is not a value of a leaf type, or undefined if it is one.
function mismatch(type, { k, v }) {
	const wanted = `This should be ${an(type.name)}`
	if (type.values.size) return k === 'name' && type.values.has(v) ? '' : `${wanted}.` + (k === 'name' ? nearest(v, type.values.keys()) : ` One of ${[...type.values.keys()].slice(0, 6).join(', ')}.`)
	if (type.inputs.size) return `${wanted}: { … }.`
	const ok = {
		Int: () => k === 'int' && Math.abs(v) <= 2147483648 - (v[0] === '-' ? 0 : 1), Int64: () => k === 'int',
		Float: () => k === 'int' || k === 'float', String: () => k === 'string', ID: () => k === 'string' || k === 'int',
		Boolean: () => v === 'true' || v === 'false',
	}[type.name]
	return !ok || ok() ? '' : wanted + '.'
}

// incomplete reports the required fields that an input object does not have.
function incomplete(type, given, report) {
	if (!type) return
	for (const f of type.inputs.values()) if (required(f) && !given.has(f.name)) report(`${type.name} needs ${f.name}: ${f.type}.`)
	if (type.isOneOf && given.size !== 1) report(`${type.name} takes exactly one field.`)
}
