// The tokens of a GraphQL document (GraphQL specification, section 2.1). A token is {k, s, e, v}: its
// kind, the offsets of its beginning and end, and its text. Kinds are name, int, float, string,
// comment, bad and end; a punctuator is its own kind. The parser adds c, the class that it is shown
// with.
/** @import { Token } from '../../../../resource/httpbody/page/types' */

const TOKEN = new RegExp([
	'[\\s,\\uFEFF]+', '(#.*)', '([_A-Za-z]\\w*)', '(-?(?:0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?(?![\\w.]))',
	'("""(?:\\\\"""|[^])*?(?:(""")|$)|"(?!"")(?:\\\\.|[^"\\\\\\n\\r])*("?))',
	'(\\.\\.\\.|[!$&()[\\]{}:=@|])', '-?\\d[\\w.]*|.',
].join('|'), 'gu')

// Escapes after a backslash (section 2.9.4): a surrogate must be part of a pair.
const ESCAPE = new RegExp('\\\\(?:["\\\\/bfnrt]|u(?:' + [
	'[dD][89abAB][\\da-fA-F]{2}\\\\u[dD][c-fC-F][\\da-fA-F]{2}', '(?![dD][89a-fA-F])[\\da-fA-F]{4}',
	'\\{0{0,2}(?![dD][89a-fA-F]..\\})(?:10|[\\da-fA-F])?[\\da-fA-F]{1,4}\\}',
].join('|') + '))', 'g')
/** @param {string} v */
const wellEscaped = v => v.startsWith('"""') || !v.replace(ESCAPE, '').includes('\\')

/**
 * @param {string} text
 * @returns {Token[]}
 */
export function lex(text) {
	const tokens = []
	for (const m of text.matchAll(TOKEN)) {
		const [v, comment, name, number, fraction, exponent, string, blockEnd, stringEnd, punctuator] = m
		/** @type {Token} */
		const t = { k: 'bad', s: m.index, e: m.index + v.length, v }
		if (comment !== undefined) t.k = t.c = 'comment'
		else if (name) t.k = 'name'
		else if (number) t.k = fraction || exponent ? 'float' : 'int'
		else if (string && (blockEnd || stringEnd)) t.k = wellEscaped(v) ? 'string' : 'bad'
		else if (punctuator) t.k = v
		else if (!string && /^[\s,\uFEFF]/.test(v)) continue
		tokens.push(t)
	}
	return tokens
}

// place returns the line and column of an offset, counted from one.
/**
 * @param {string} text
 * @param {number} offset
 */
export function place(text, offset) {
	const before = text.slice(0, offset).split(/\r\n|[\n\r]/)
	return { line: before.length, column: before[before.length - 1].length + 1 }
}

// offsetOf is the inverse of place.
/**
 * @param {string} text
 * @param {{ line: number, column: number }} place
 */
export function offsetOf(text, { line, column }) {
	let at = 0
	for (let n = 1; n < line; n++) {
		const next = text.indexOf('\n', at)
		if (next < 0) break
		at = next + 1
	}
	return Math.min(at + column - 1, text.length)
}

// prettify formats a document without syntax errors. A comment stays before the token that follows it.
/** @param {string} text */
export function prettify(text) {
	const tokens = lex(text)
	let i = 0, out = '', depth = 0
	const is = (/** @type {number} */ n, /** @type {string} */ kind) => tokens[i + n]?.k === kind
	const line = () => { out = out.trimEnd() + (out ? '\n' : '') + '  '.repeat(depth) }
	/** @type {Record<string, string>} */
	const closes = { '(': ')', '[': ']', '{': '}' }

	// items formats the items between brackets, one string for each.
	/** @param {string} close */
	function items(close) {
		/** @type {string[]} */
		const all = []
		let item = '', fresh = true
		while (i < tokens.length && !is(0, close)) {
			const t = tokens[i++], last = tokens[i - 2].k
			if (t.k === 'comment') {
				if (item) all.push(item)
				all.push(t.v)
				item = ''
				fresh = true
				continue
			}
			const begins = close === ']' ? !'$@!(:'.includes(last) && !'@!('.includes(t.k)
				: (is(0, ':') && last !== '@' && last !== '$') || (t.k === '$' && is(1, ':'))
			if (begins && !fresh) {
				all.push(item)
				item = ''
			}
			fresh = false
			if (t.k === '@' && item) item += ' '
			if (closes[t.k]) item += group(t.k)
			else item += t.k === '=' ? ' = ' : t.v + (t.k === ':' ? ' ' : '')
		}
		i++
		if (item) all.push(item)
		return all
	}

	// group formats brackets with their content, on one line if it fits.
	/** @param {string} open */
	function group(open) {
		const close = closes[open], began = out.length - out.lastIndexOf('\n')
		depth++
		const all = items(close)
		depth--
		const flat = all.join(', ')
		const fits = began + flat.length < 100 && !all.some(x => x[0] === '#' || x.includes('\n'))
		if (fits) return open + flat + close
		const indent = '\n' + '  '.repeat(depth)
		return open + all.map(x => indent + '  ' + x).join('') + indent + close
	}

	for (let open = 0; i < tokens.length;) {
		const t = tokens[i++], last = tokens[i - 2]
		if (t.k === 'comment') {
			if (last && !/[\n\r]/.test(text.slice(last.e, t.s))) out += ' '
			else if (depth) line()
			else if (last) out = out.trimEnd() + (last.k === 'comment' ? '\n' : '\n\n')
			out += t.v + '\n'
		} else if (t.k === '}') {
			depth--
			open--
			line()
			out += '}'
		} else if (t.k === '(' || t.k === '[' || (t.k === '{' && last?.k === ':')) {
			out += group(t.k)
		} else if (t.k === '{') {
			if (out && !out.endsWith('\n')) out += last?.k === '}' && !depth ? '\n\n' : ' '
			out += '{'
			depth++
			open++
		} else if (!open) {
			if (last?.k === '}') out += '\n\n'
			else if (last && !'@$:'.includes(last.k) && !out.endsWith('\n')) out += t.k === ':' ? '' : ' '
			out += t.v
		} else {
			const typed = last.v === 'on' && tokens[i - 3]?.k === '...'
			const fresh = t.k === 'name' && !typed && ![':', '@', '...'].includes(last.k)
			const spaced = t.k === '@' || typed || last.k === ':' || (last.k === '...' && t.v === 'on')
			if (t.k === '...' || fresh) line()
			else if (spaced) out += ' '
			out += t.v
		}
	}
	return out.trimEnd() + '\n'
}
