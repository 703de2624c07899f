// The editors.
import { $, make, report } from '../../../../resource/httpbody/page/dom.js'
import { docs } from './docs.js'
import { place } from './lex.js'
import { shades } from './parts.js'
/** @import { Analysis, Choice, Problem } from './types' */

const CLOSES = new Map([['{', '}'], ['(', ')'], ['[', ']'], ['"', '"']])

// unread returns the analysis of a text that is not validated.
/** @returns {Analysis} */
const unread = () =>
	({ tokens: [], problems: [], operations: [], fragments: new Map(), here: null, thing: null })

// An Editor is a textarea, which browsers and screen readers support, with the same text in colours
// under it. It calls read for the analysis of its text, and complete for completions at the caret.
export class Editor {
	/** @type {Problem[]} */
	extra = [] // the errors of the server
	/** @type {Problem[]} */
	marks = []
	/** @type {Choice[]} */
	items = [] // the completions that are shown
	active = -1 // the index of the selected one
	leaving = false // the next Tab leaves the editor
	editing = false
	analysis = unread()

	/**
	 * @typedef {object} EditorOptions
	 * @property {string} label
	 * @property {string} hint
	 * @property {(text: string, caret: number) => Analysis} read
	 * @property {(analysis: Analysis, text: string, caret: number) => Choice[]} complete
	 * @property {() => void} changed
	 * @property {() => void} moved
	 */
	/**
	 * @param {HTMLElement} root
	 * @param {EditorOptions} options
	 */
	constructor(root, { label, hint, read, complete, changed, moved }) {
		this.read = read
		this.complete = complete
		this.changed = changed
		this.moved = moved
		this.area = make('textarea', {
			'aria-label': label, 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox',
			'aria-controls': 'choices', 'aria-describedby': 'leave', placeholder: hint,
			spellcheck: false, autocapitalize: 'off', autocomplete: 'off', wrap: 'off',
			oninput: e => this.input(/** @type {any} */ (e).inputType), onkeydown: e => this.key(e),
			onblur: () => this.close(), onfocus: () => this.moved(), onclick: () => this.move(),
			onkeyup: e => {
				const selects = this.items.length && /Up|Down/.test(e.key)
				if (/^(Arrow|Home|End|Page)/.test(e.key) && !selects) this.move()
			},
		})
		this.under = make('pre', { 'aria-hidden': 'true' })
		this.numbers = make('pre', { class: 'numbers', 'aria-hidden': 'true' })
		const code = make('div', { class: 'code' }, this.under, this.area)
		root.append(make('div', { class: 'editor' }, this.numbers, code))
		this.update()
	}

	get text() { return this.area.value }
	get caret() { return this.area.selectionStart }

	// set replaces the whole text as an edit that can be undone.
	/** @param {string} text */
	set(text) {
		if (text === this.text) return this.update()
		this.area.focus()
		this.edit(0, this.text.length, text)
		this.area.setSelectionRange(0, 0)
		this.close()
		this.update()
	}
	// edit replaces a part of the text.
	/** @type {(from: number, to: number, text: string, caret?: number) => void} */
	edit(from, to, text, caret = from + text.length) {
		this.area.setSelectionRange(from, to)
		this.editing = true
		// No other way to change a textarea can be undone. It needs the focus, so it does not work for a
		// hidden editor, and browsers take minutes for ten thousand lines.
		const undoable = text.length + to - from < 2e4 && document.activeElement === this.area
		if (!undoable || !document.execCommand(text ? 'insertText' : 'delete', false, text)) {
			this.area.setRangeText(text, from, to, 'end')
			this.input()
		}
		this.editing = false
		this.area.setSelectionRange(caret, caret)
	}

	/** @param {string} [inputType] */
	input(inputType) {
		this.extra = []
		this.leaving = false
		this.update()
		this.changed()
		if (this.editing) return
		const typed = inputType === 'insertText' || this.items.length > 0
		if (typed && /[\w$@"(]$/.test(this.text.slice(0, this.caret))) this.open(false)
		else this.close()
	}
	move() {
		this.close()
		this.update()
		this.moved()
	}

	update() {
		const { text } = this
		// A text that is longer, or nested deeper than the stack, is validated by the server alone.
		this.analysis = unread()
		try {
			if (text.length < 1e5) this.analysis = this.read(text, this.caret)
		} catch (e) {
			if (!(e instanceof RangeError)) throw e
			const message = 'This is nested too deeply to be checked.'
			this.analysis.problems.push({ s: 0, e: 1, message, syntax: true })
		}
		const marks = this.marks = [...this.analysis.problems, ...this.extra]
		this.under.replaceChildren(...shades(text, this.analysis.tokens, marks), '\n')
		const lines = text.split('\n').length, wrong = new Map()
		for (const m of marks) {
			const { line } = place(text, m.s)
			wrong.set(line, wrong.get(line) === 'wrong' || !m.mild ? 'wrong' : 'mild')
		}
		this.numbers.replaceChildren(...Array.from({ length: lines }, (_, n) =>
			make('span', { class: wrong.get(n + 1) ?? '' }, `${n + 1}\n`)))
		this.area.setAttribute('aria-invalid', String(marks.some(m => !m.mild)))
	}

	// mark underlines the errors of the server until the text changes.
	/** @param {Problem[]} marks */
	mark(marks) {
		this.extra = marks
		this.update()
	}
	// go moves the caret to an offset.
	/** @param {number} offset */
	go(offset) {
		this.area.focus()
		this.area.setSelectionRange(offset, offset)
		this.move()
		this.box(offset).span?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
	}
	// next moves the caret to the next problem and reports it.
	next() {
		const m = this.marks.find(m => m.s > this.caret) ?? this.marks[0]
		if (!m) return report('No problems.')
		this.go(m.s)
		report(this.problem(m))
	}
	// problem returns a text that describes a problem.
	/** @param {Problem} m */
	problem(m) {
		const { line, column } = place(this.text, m.s)
		return `${m.mild ? 'Note' : 'Problem'} in line ${line}, column ${column}: ${m.message}`
	}

	// box returns the rectangle of an offset on the screen.
	/** @param {number} offset */
	box(offset) {
		const walk = document.createTreeWalker(this.under, NodeFilter.SHOW_TEXT)
		const range = document.createRange()
		const next = () => /** @type {Text | null} */ (walk.nextNode())
		for (let node = next(), at = 0; node; at += node.length, node = next()) {
			const end = at + node.length, endsLine = offset === end && node.data.endsWith('\n')
			if (offset > end || (endsLine && walk.nextNode() && walk.previousNode())) continue
			range.setStart(node, offset - at)
			const rect = range.getClientRects()[0] ?? range.getBoundingClientRect()
			return { span: node.parentElement, rect }
		}
		return { span: null, rect: this.area.getBoundingClientRect() }
	}

	// open shows the completions at the caret. None is selected unless the user asked for them or has
	// typed a part of a name, so that Enter inserts a new line.
	/** @param {boolean} asked */
	open(asked) {
		const { analysis, text, caret } = this, { here } = analysis
		this.items = this.complete(analysis, text, caret).slice(0, 60)
		const typed = here ? text.slice(here.from, caret) : '', isComplete = this.items[0]?.label === typed
		if (!here || !this.items.length || (!asked && this.items.length === 1 && isComplete)) {
			if (asked) report('Nothing to choose from here.')
			return this.close()
		}
		const list = $('choices')
		list.replaceChildren(...this.items.map((x, n) => make('li', {
			role: 'option', id: 'choice-' + n, 'aria-selected': 'false', class: x.old ? 'old' : '',
			onpointerdown: e => { e.preventDefault(); this.accept(n) },
		}, make('b', {}, x.label), x.detail && make('small', {}, x.detail))))
		$('popup').hidden = false
		const { rect } = this.box(here.from), popup = $('popup').getBoundingClientRect()
		const below = rect.bottom + 4 + popup.height < innerHeight || rect.top < popup.height
		$('popup').style.left = Math.max(4, Math.min(rect.left, innerWidth - popup.width - 8)) + 'px'
		$('popup').style.top = (below ? rect.bottom + 4 : rect.top - popup.height - 4) + 'px'
		this.choose(asked || (typed && !this.items[0].rank) ? 0 : -1)
	}
	// choose selects a completion, none if n is negative.
	/** @param {number} n */
	choose(n) {
		const count = this.items.length
		this.active = n < 0 ? n : n % count
		const option = $('choice-' + this.active), item = this.items[this.active]
		for (const x of $('choices').children) x.setAttribute('aria-selected', String(x === option))
		option?.scrollIntoView({ block: 'nearest' })
		if (option) this.area.setAttribute('aria-activedescendant', option.id)
		else this.area.removeAttribute('aria-activedescendant')
		$('about-choice').replaceChildren(...docs.prose(item?.doc))
		report(item ? '' : `${count} to choose from: arrow down.`)
	}
	accept(n = this.active) {
		const item = this.items[n], { here } = this.analysis
		if (!here) return
		const rest = this.text.slice(here.to)
		let insert = item.insert ?? item.label
		// Text that follows the caret already is not inserted again.
		if (/^\s*[{(]/.test(rest)) insert = insert.replace(/(\(.*|\s*\{[^]*)$/, '')
		if (/^"?\s*:/.test(rest)) insert = insert.replace(/: \|$/, '')
		if (here.json && rest[0] === '"') insert = insert.replace(/"$/, '')
		insert = insert.replaceAll('\n', '\n' + this.indentAt(here.from))
		const caret = insert.indexOf('|')
		this.close()
		const at = here.from + (caret < 0 ? insert.length : caret)
		this.edit(here.from, here.to, insert.replace('|', ''), at)
		this.update()
		this.moved()
		if (caret >= 0) this.open(false)
	}
	close() {
		this.items = []
		$('popup').hidden = true
		this.area.removeAttribute('aria-activedescendant')
	}

	/** @param {KeyboardEvent} e */
	key(e) {
		const { area } = this, open = this.items.length > 0, chosen = open && this.active >= 0
		const plain = !e.ctrlKey && !e.metaKey && !e.altKey
		const done = (/** @type {() => void} */ act) => { e.preventDefault(); act() }
		if (e.isComposing) return
		if (e.code === 'Space' && (e.ctrlKey || (e.altKey && e.shiftKey))) return done(() => this.open(true))
		if (e.key === 'F8') return done(() => this.next())
		if (e.key === '/' && (e.ctrlKey || e.metaKey)) return done(() => this.comment())
		if (!plain) return
		if (open && e.key === 'ArrowDown') return done(() => this.choose(this.active + 1))
		const before = this.active <= 0 ? this.items.length - 1 : this.active - 1
		if (open && e.key === 'ArrowUp') return done(() => this.choose(before))
		if (chosen && (e.key === 'Tab' || e.key === 'Enter')) return done(() => this.accept())
		if (e.key === 'Escape') {
			if (open) return done(() => this.close())
			this.leaving = true
			return done(() => report('Tab leaves the editor now.'))
		}
		if (e.key === 'Tab' && !this.leaving) return done(() => this.indent(e.shiftKey))
		if (e.key === 'Enter') return done(() => this.newline())
		if (area.selectionStart === area.selectionEnd) this.pair(e, done)
	}
	// pair inserts, skips or deletes the closing bracket or quotation mark of a pair.
	/** @type {(e: KeyboardEvent, done: (act: () => void) => void) => void} */
	pair(e, done) {
		const { text, caret } = this, { key } = e, next = text[caret] ?? '', close = CLOSES.get(key)
		if (next === key && /[)\]}"]/.test(key)) return done(() => {
			this.area.setSelectionRange(caret + 1, caret + 1)
			this.move()
		})
		const inText = this.analysis.tokens.some(t =>
			/comment|string|bad/.test(t.k) && t.s < caret && caret < t.e)
		const ends = key === '"' && /["\w]/.test(text[caret - 1] ?? '')
		if (close && !inText && !/[\w"$]/.test(next) && !ends) return done(() => {
			this.edit(caret, caret, key + close, caret + 1)
			this.update()
			if (key !== '"') this.open(false)
		})
		const isEmpty = /^(\{\}|\(\)|\[\]|"")$/.test(text.slice(caret - 1, caret + 1))
		if (key === 'Backspace' && isEmpty) done(() => this.edit(caret - 1, caret + 1, ''))
	}
	// indentAt returns the white space at the beginning of the line of an offset.
	/** @param {number} offset */
	indentAt(offset) {
		const line = this.text.slice(0, offset).split('\n').at(-1) ?? ''
		return line.slice(0, line.length - line.trimStart().length)
	}
	newline() {
		const { selectionStart: s, selectionEnd: e } = this.area, before = this.text.slice(0, s)
		const indent = this.indentAt(s)
		const opens = /[{([]\s*$/.test(before), closes = /^[ \t]*[})\]]/.test(this.text.slice(e))
		const inner = '\n' + indent + (opens ? '  ' : '')
		this.close()
		this.edit(s, e, inner + (opens && closes ? '\n' + indent : ''), s + inner.length)
		this.update()
	}
	// lines changes each line of the selection.
	/** @param {(lines: string[]) => string[]} change */
	lines(change) {
		const { selectionStart: s, selectionEnd: e } = this.area, { text } = this
		const from = text.lastIndexOf('\n', s - 1) + 1, end = text.indexOf('\n', e)
		const to = end < 0 ? text.length : end
		const after = change(text.slice(from, to).split('\n')).join('\n')
		if (after === text.slice(from, to)) return
		this.edit(from, to, after)
		const caret = Math.max(from, s + after.length - (to - from))
		if (s !== e) this.area.setSelectionRange(from, from + after.length)
		else this.area.setSelectionRange(caret, caret)
	}
	/** @param {boolean} back */
	indent(back) {
		const { selectionStart: s, selectionEnd: e } = this.area
		if (back) this.lines(all => all.map(x => x.replace(/^ {1,2}|^\t/, '')))
		else if (s === e) this.edit(s, e, '  ')
		else this.lines(all => all.map(x => x && '  ' + x))
	}
	comment() {
		this.lines(all => all.every(x => /^\s*(#|$)/.test(x))
			? all.map(x => x.replace(/^(\s*)# ?/, '$1')) : all.map(x => x && '# ' + x))
	}
}
