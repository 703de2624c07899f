// JSON (RFC 8259) as text: JSON.parse would round numbers beyond 2^53, and does not report the
// position of an error.
/** @import { Token } from './types' */

const JSON_TOKEN = new RegExp([
	'\\s+', '("(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})|[^"\\\\\\x00-\\x1f])*")',
	'(-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?(?![\\w.]))', '(true|false|null)(?!\\w)', '([[\\]{}:,])',
	'"(?:\\\\.|[^"\\\\\\n])*', '[^\\s[\\]{}:,"]+',
].join('|'), 'gy')

// lexJSON returns the tokens of a text. A token is {k, c, s, e, v}: its kind, the class that it is
// shown with, the offsets of its beginning and end, and its text. Kinds are string, number,
// constant and bad; a punctuator is its own kind.
/**
 * @param {string} text
 * @returns {Token[]}
 */
export function lexJSON(text) {
	const tokens = []
	for (const m of text.matchAll(JSON_TOKEN)) {
		const [v, string, number, constant, punctuator] = m
		if (/^\s/.test(v)) continue
		const k = string ? 'string' : number ? 'number' : constant ? 'constant' : punctuator ?? 'bad'
		tokens.push({ k, c: k, s: m.index, e: m.index + v.length, v })
	}
	return tokens
}

// parsed returns the value of a JSON text, undefined if it is not JSON. Numbers beyond 2^53 are rounded.
/**
 * @param {string} text
 * @returns {any}
 */
export function parsed(text) {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

// prettyJSON indents a JSON text and changes nothing else. It returns undefined if the text is not JSON.
/** @param {string} text */
export function prettyJSON(text) {
	if (parsed(text) === undefined) return undefined
	/** @type {string[]} */
	const out = []
	const tokens = lexJSON(text)
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
