// A part of CommonMark: paragraphs, headings, lists, code, emphasis and links. It makes elements, never HTML.
import { make } from '../../httpbody/page/dom.js'

const INLINE = new RegExp([
	'(`+)(.+?)\\1', '\\*\\*(.+?)\\*\\*', '\\*((?:\\\\.|[^*\\s\\\\])(?:\\\\.|[^*\\\\])*)\\*',
	'\\[([^\\]]+)\\]\\(([^)\\s]+)\\)', '<?(https?:\\/\\/[^\\s<>)]+)>?', '\\\\([!-/:-@[-`{-~])',
].join('|'), 'g')

/**
 * @param {string} text
 * @returns {(string | Node)[]}
 */
function inline(text) {
	const nodes = []
	let at = 0
	for (const m of text.matchAll(INLINE)) {
		nodes.push(text.slice(at, m.index))
		at = m.index + m[0].length
		const address = m[6] ?? m[7]
		if (m[2]) nodes.push(make('code', {}, m[2].trim()))
		else if (m[3]) nodes.push(make('strong', {}, inline(m[3])))
		else if (m[8]) nodes.push(m[8])
		else if (m[4]) nodes.push(make('em', {}, inline(m[4])))
		else if (/^(https?:|mailto:|[/#?.])/.test(address)) {
			nodes.push(make('a', { href: address, rel: 'noreferrer' }, m[5] ?? address))
		} else nodes.push(m[0])
	}
	nodes.push(text.slice(at))
	return nodes.filter(n => n !== '')
}

// markdown returns the elements of a text. Its headings begin at level; without a level they are paragraphs.
/**
 * @param {string | undefined} text
 * @param {number} [level]
 */
export function markdown(text, level) {
	/** @type {HTMLElement[]} */
	const out = []
	/** @type {Record<'list' | 'fenced' | 'indented', HTMLElement | null>} */
	const open = { list: null, fenced: null, indented: null } // the elements to which lines are added
	/** @type {string[]} */
	let paragraph = []
	let gap = ''
	const flush = () => {
		if (paragraph.length) out.push(make('p', {}, inline(paragraph.join(' '))))
		paragraph = []
	}
	const addCode = () => {
		const code = make('code')
		out.push(make('pre', { tabIndex: 0 }, code))
		return code
	}
	for (const line of String(text ?? '').split('\n')) {
		const fence = /^\s*```/.test(line), heading = /^(#{1,6})\s+(.*)/.exec(line)
		const item = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)/.exec(line)
		const deep = !open.list && !paragraph.length && /^(?: {4}|\t)(.*\S.*)/.exec(line)
		if (line.trim() && !deep) [open.indented, gap] = [null, '']
		if (fence || open.fenced) {
			if (!fence) open.fenced?.append(line + '\n')
			else if (open.fenced) open.fenced = null
			else {
				flush()
				if (line[0] === '`') open.list = null
				open.fenced = addCode()
			}
		} else if (deep) {
			open.indented ??= addCode()
			open.indented.append(gap + deep[1] + '\n')
			gap = ''
		} else if (heading) {
			flush()
			open.list = null
			out.push(headingOf(heading[2], level && level + heading[1].length - 1))
		} else if (item && (!paragraph.length || !item[1] || item[1] === '1')) {
			flush()
			const start = Number(item[1])
			if (open.list?.localName !== (item[1] ? 'ol' : 'ul')) {
				out.push(open.list = item[1] ? make('ol', start > 1 ? { start } : {}) : make('ul'))
			}
			open.list.append(make('li', {}, inline(item[2])))
		} else if (!line.trim()) {
			flush()
			if (open.indented) gap += '\n'
		} else if (open.list && /^\s/.test(line)) {
			open.list.lastElementChild?.append(' ', ...inline(line.trim()))
		} else {
			open.list = null
			paragraph.push(line.trim())
		}
	}
	flush()
	return out
}

/**
 * @param {string} text
 * @param {number} [level]
 */
const headingOf = (text, level) => level
	? make(/** @type {'h2'} */ (`h${Math.min(6, Math.max(2, level))}`), {}, inline(text))
	: make('p', {}, make('strong', {}, inline(text)))

// plainText removes emphasis, the marks of code and backslashes that escape.
/** @param {string} text */
export const plainText = text => text.replace(/`([^`]*)`|\\([!-/:-@[-`{-~])|[`*]/g, '$1$2')

// firstSentence returns the beginning of a description as plain text; '' if it begins with a heading.
/** @param {string | undefined} text */
export function firstSentence(text) {
	const first = String(text ?? '').trimStart().split(/\n\s*\n/)[0].replace(/\s+/g, ' ')
	return /^#/.test(first) ? '' : plainText(/^.*?[.!?](?= |$)/.exec(first)?.[0] ?? first)
}
