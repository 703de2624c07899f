// A part of CommonMark: paragraphs, headings, lists, code, emphasis and links. It makes elements, never HTML.

// inline returns the nodes of a line of text.
function inline(text) {
	const nodes = []
	let at = 0
	for (const m of text.matchAll(/(`+)(.+?)\1|\*\*(.+?)\*\*|\*((?:\\.|[^*\s\\])(?:\\.|[^*\\])*)\*|\[([^\]]+)\]\(([^)\s]+)\)|<?(https?:\/\/[^\s<>)]+)>?|\\([!-/:-@[-`{-~])/g)) {
		nodes.push(text.slice(at, m.index))
		at = m.index + m[0].length
		const address = m[6] ?? m[7]
		if (m[2]) nodes.push(make('code', {}, m[2].trim()))
		else if (m[3]) nodes.push(make('strong', {}, inline(m[3])))
		else if (m[8]) nodes.push(m[8])
		else if (m[4]) nodes.push(make('em', {}, inline(m[4])))
		else if (/^(https?:|mailto:|[/#?.])/.test(address)) nodes.push(make('a', { href: address, rel: 'noreferrer' }, m[5] ?? address))
		else nodes.push(m[0])
	}
	nodes.push(text.slice(at))
	return nodes.filter(n => n !== '')
}

// markdown returns the elements of a text. Its headings begin at level; without a level they are paragraphs.
function markdown(text, level) {
	const out = []
	let list = null, code = null, indented = null, gap = '', paragraph = []
	const flush = () => {
		if (paragraph.length) out.push(make('p', {}, inline(paragraph.join(' '))))
		paragraph = []
	}
	for (const line of String(text ?? '').split('\n')) {
		const fence = /^\s*```/.test(line), heading = /^(#{1,6})\s+(.*)/.exec(line), item = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)/.exec(line)
		const deep = !list && !paragraph.length && /^(?: {4}|\t)(.*\S.*)/.exec(line)
		if (line.trim() && !deep) { indented = null; gap = '' }
		if (fence || code) {
			if (!fence) code.textContent += line + '\n'
			else if (code) code = null
			else { flush(); if (line[0] === '`') list = null; out.push(make('pre', { tabIndex: 0 }, code = make('code'))) }
		} else if (deep) {
			if (!indented) out.push(make('pre', { tabIndex: 0 }, indented = make('code')))
			indented.textContent += gap + deep[1] + '\n'
			gap = ''
		} else if (heading) {
			flush()
			list = null
			out.push(level ? make('h' + Math.min(6, Math.max(2, level + heading[1].length - 1)), {}, inline(heading[2])) : make('p', {}, make('strong', {}, inline(heading[2]))))
		} else if (item && (!paragraph.length || !item[1] || item[1] === '1')) {
			flush()
			const tag = item[1] ? 'ol' : 'ul'
			if (list?.localName !== tag) out.push(list = make(tag, item[1] > 1 ? { start: item[1] } : {}))
			list.append(make('li', {}, inline(item[2])))
		} else if (!line.trim()) {
			flush()
			if (indented) gap += '\n'
		} else if (list && /^\s/.test(line)) list.lastChild.append(' ', ...inline(line.trim()))
		else { list = null; paragraph.push(line.trim()) }
	}
	flush()
	return out
}

// plainText removes emphasis, the marks of code and backslashes that escape.
const plainText = text => text.replace(/`([^`]*)`|\\([!-/:-@[-`{-~])|[`*]/g, '$1$2')

// firstSentence returns the beginning of a description as plain text; '' if it begins with a heading.
function firstSentence(text) {
	const first = String(text ?? '').trimStart().split(/\n\s*\n/)[0].replace(/\s+/g, ' ')
	return /^#/.test(first) ? '' : plainText(/^.*?[.!?](?= |$)/.exec(first)?.[0] ?? first)
}
