// JSON (RFC 8259) as text: JSON.parse would round numbers beyond 2^53, and does not report the position of an error.
const JSON_TOKEN = /\s+|("(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[^"\\\x00-\x1f])*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))|(true|false|null)(?!\w)|([[\]{}:,])|"(?:\\.|[^"\\\n])*|[^\s[\]{}:,"]+/gy

function lexJSON(text) {
	const tokens = []
	for (const m of text.matchAll(JSON_TOKEN)) {
		const [v, string, number, constant, punctuator] = m
		if (/^\s/.test(v)) continue
		const k = string ? 'string' : number ? 'number' : constant ? 'constant' : punctuator ?? 'bad'
		tokens.push({ k, c: k, s: m.index, e: m.index + v.length, v })
	}
	return tokens
}

// analyseJSON reads variables or headers, as analyse reads a document. inputs has the members that the object may have, as a
// Map of {name, type}. Without inputs only the syntax is checked.
function analyseJSON(text, schema, caret, inputs) {
	const tokens = lexJSON(text), problems = [], result = { tokens, problems, here: null, thing: null }
	const end = { k: 'end', s: text.length, e: text.length, v: 'the end' }
	let i = 0, broken = false
	const tok = () => tokens[i] ?? end
	const problem = (t, message, mild) => { if (!broken) problems.push({ s: t.s, e: t.e, message, mild }) }
	function syntax(wanted) {
		const t = tok()
		problem(t === end && tokens.length ? tokens.at(-1) : t, `Expected ${wanted}, found ${t.v.slice(0, 30)}.`)
		broken = true
	}
	const take = (k, wanted) => tok().k === k ? tokens[i++] : syntax(wanted ?? k)
	function may(kind, more) {
		const t = tok()
		if ((t.k === 'string' || t.k === 'bad' || t.k === 'constant') && t.s < caret && caret <= t.e) result.here = { kind, json: true, from: t.s, to: t.e, ...more }
		else if (caret <= t.s && caret >= (tokens[i - 1]?.e ?? 0)) result.here = { kind, json: true, from: caret, to: caret, ...more }
	}

	function object(known, name) {
		const open = take('{'), given = new Set()
		while (!broken && tok().k !== '}') {
			if (given.size) take(',', ', or }')
			if (broken) return
			may('argument', known && { inputs: known, given })
			const key = take('string', 'a name between quotation marks')
			if (!key) return
			key.c = 'field'
			const k = JSON.parse(key.v), input = known?.get(k)
			if (known && !input) problem(key, `${name} has no ${k}.` + nearest(k, known.keys()), known === inputs)
			if (given.has(k)) problem(key, `${k} is given twice.`)
			given.add(k)
			if (key.s <= caret && caret <= key.e && input) result.thing = { input }
			if (take(':')) value(input?.type)
		}
		take('}')
		return [open, given]
	}
	function value(ref) {
		const t = tok(), type = ref && schema?.type(ref), inner = ref && elementOf(ref)
		may('value', { type: ref, fixed: true })
		if (t.k === '[') {
			i++
			if (type && !inner && (type.kind !== 'SCALAR' || SIMPLE[type.name])) problem(t, `This should be ${an(ref)}, not a list.`)
			for (let n = 0; !broken && tok().k !== ']'; n++) {
				if (n) take(',', ', or ]')
				if (!broken) value(inner)
			}
			take(']')
		} else if (t.v === 'null') {
			i++
			if (ref?.endsWith('!')) problem(t, `This should be ${an(ref)}, not null.`)
		} else if (inner) value(inner)
		else if (t.k === '{') {
			const known = type?.inputs.size ? type : undefined
			if (type && !known && (type.kind !== 'SCALAR' || SIMPLE[type.name])) problem(t, `This should be ${an(ref)}, not an object.`)
			const [open, given] = object(known?.inputs, known?.name) ?? []
			if (given) incomplete(known, given, message => problem(open, message))
		} else if (['string', 'number', 'constant'].includes(t.k)) {
			i++
			const wrong = type && mismatchJSON(type, t)
			if (wrong) problem(t, wrong)
		} else syntax('a value')
	}

	if (tokens.length) {
		const [open, given] = tok().k === '{' ? object(inputs, 'The operation') ?? [] : (syntax('{'), [])
		if (given && tok() !== end) syntax('nothing more')
		if (given) for (const v of inputs?.values() ?? []) if (v.needed && !given.has(v.name)) problem(open, `$${v.name} needs a value: ${v.type}.`)
	} else {
		may('nothing')
		for (const v of inputs?.values() ?? []) if (v.needed) problem(end, `$${v.name} needs a value: ${v.type}.`)
	}
	return result
}

const SIMPLE = { Int: ['int'], Int64: ['int'], Float: ['int', 'float'], String: ['string'], ID: ['string', 'int'], Boolean: ['name'] }

// mismatchJSON is mismatch for a token of JSON, where values of enums are strings.
function mismatchJSON(type, { k, v }) {
	if (k === 'string' && type.values.size) return mismatch(type, { k: 'name', v: JSON.parse(v) })
	return mismatch(type, { k: k === 'number' ? (/[.eE]/.test(v) ? 'float' : 'int') : k === 'constant' ? 'name' : k, v })
}

// prettyJSON indents a JSON text and changes nothing else. It returns undefined if the text is not JSON.
function prettyJSON(text) {
	try {
		JSON.parse(text)
	} catch {
		return undefined
	}
	const out = [], tokens = lexJSON(text)
	let line = '\n'
	tokens.forEach(({ k, v }, i) => {
		const next = tokens[i + 1]?.k, empty = (k === '{' && next === '}') || (k === '[' && next === ']')
		if ((k === '{' || k === '[') && !empty) out.push(v, line += '  ')
		else if (k === ',') out.push(v, line)
		else if (k === ':') out.push(': ')
		else out.push(v)
		if ((next === '}' || next === ']') && !empty) out.push(line = line.slice(0, -2))
	})
	return out.join('')
}
