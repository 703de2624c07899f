// An Editor is a textarea, which browsers and screen readers support, with the same text in colours under it. It calls
// read(text, caret) for an analysis as analyse returns it, and complete for completions at the caret.
class Editor {
	constructor(root, { label, hint, read, complete, changed, moved }) {
		Object.assign(this, { read, complete, changed, moved, label, extra: [], leaving: false, items: [], active: -1 })
		this.area = make('textarea', {
			'aria-label': label, 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-controls': 'choices', placeholder: hint ?? '',
			'aria-describedby': 'leave', spellcheck: false, autocapitalize: 'off', autocomplete: 'off', wrap: 'off',
			oninput: e => this.input(e), onkeydown: e => this.key(e), onblur: () => this.close(), onfocus: () => this.moved?.(), onclick: () => this.move(),
			onkeyup: e => { if (/^(Arrow|Home|End|Page)/.test(e.key) && !(this.items.length && /Up|Down/.test(e.key))) this.move() },
		})
		this.under = make('pre', { 'aria-hidden': 'true' })
		this.numbers = make('pre', { class: 'numbers', 'aria-hidden': 'true' })
		root.append(make('div', { class: 'editor' }, this.numbers, make('div', { class: 'code' }, this.under, this.area)))
		this.update()
	}

	get text() { return this.area.value }
	get caret() { return this.area.selectionStart }

	// set replaces the whole text as an edit that can be undone.
	set(text) {
		if (text === this.text) return this.update()
		this.area.focus()
		this.edit(0, this.text.length, text)
		this.area.setSelectionRange(0, 0)
		this.close()
		this.update()
	}
	edit(from, to, text, caret = from + text.length) {
		this.area.setSelectionRange(from, to)
		this.editing = true
		// No other way to change a textarea can be undone. It needs the focus, so it does not work for a hidden editor, and
		// browsers take minutes for ten thousand lines.
		const short = text.length + to - from < 2e4
		if (!short || document.activeElement !== this.area || !document.execCommand(text ? 'insertText' : 'delete', false, text)) {
			this.area.setRangeText(text, from, to, 'end')
			this.input({})
		}
		this.editing = false
		this.area.setSelectionRange(caret, caret)
	}

	input(e) {
		this.extra = []
		this.leaving = false
		this.update()
		this.changed?.()
		if (this.editing) return
		const typed = e.inputType === 'insertText' || this.items.length > 0
		if (typed && /[\w$@"(]$/.test(this.text.slice(0, this.caret))) this.open(false)
		else this.close()
	}
	move() {
		this.close()
		this.update()
		this.moved?.()
	}

	update() {
		const { text } = this
		// A text that is longer, or nested deeper than the stack, is validated by the server alone.
		this.analysis = { tokens: [], problems: [], operations: [], here: null, thing: null }
		try {
			if (text.length < 1e5) this.analysis = this.read(text, this.caret)
		} catch (e) {
			if (!(e instanceof RangeError)) throw e
			this.analysis.problems.push({ s: 0, e: 1, message: 'This is nested too deeply to be checked.', syntax: true })
		}
		const marks = this.marks = [...this.analysis.problems, ...this.extra]
		this.under.replaceChildren(...shades(text, this.analysis.tokens, marks), '\n')
		const lines = text.split('\n').length, wrong = new Map()
		for (const m of marks) {
			const { line } = place(text, m.s)
			wrong.set(line, wrong.get(line) === 'wrong' || !m.mild ? 'wrong' : 'mild')
		}
		this.numbers.replaceChildren(...Array.from({ length: lines }, (_, n) => make('span', { class: wrong.get(n + 1) ?? '' }, `${n + 1}\n`)))
		this.area.setAttribute('aria-invalid', marks.some(m => !m.mild))
	}

	// mark underlines the errors of the server until the text changes.
	mark(marks) {
		this.extra = marks
		this.update()
	}
	// go moves the caret to an offset.
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
	problem(m) {
		const { line, column } = place(this.text, m.s)
		return `${m.mild ? 'Note' : 'Problem'} in line ${line}, column ${column}: ${m.message}`
	}

	// box returns the rectangle of an offset on the screen.
	box(offset) {
		const walk = document.createTreeWalker(this.under, NodeFilter.SHOW_TEXT), range = document.createRange()
		for (let node = walk.nextNode(), at = 0; node; at += node.length, node = walk.nextNode()) {
			if (offset > at + node.length || (offset === at + node.length && node.data.endsWith('\n') && walk.nextNode() && walk.previousNode())) continue
			range.setStart(node, offset - at)
			return { span: node.parentElement, rect: range.getClientRects()[0] ?? range.getBoundingClientRect() }
		}
		return { rect: this.area.getBoundingClientRect() }
	}

	// open shows the completions at the caret. None is selected unless the user asked for them or has typed a part of a name,
	// so that Enter inserts a new line.
	open(asked) {
		const { analysis, text, caret } = this
		this.items = this.complete(analysis, text, caret).slice(0, 60)
		const here = analysis.here, typed = here && caret > here.from
		if (!this.items.length || (!asked && this.items.length === 1 && this.items[0].label === text.slice(here.from, caret))) {
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
	choose(n) {
		const count = this.items.length
		this.active = n < 0 ? n : n % count
		const option = $('choice-' + this.active), item = this.items[this.active]
		for (const x of $('choices').children) x.setAttribute('aria-selected', x === option)
		option?.scrollIntoView({ block: 'nearest' })
		if (option) this.area.setAttribute('aria-activedescendant', option.id)
		else this.area.removeAttribute('aria-activedescendant')
		$('about-choice').replaceChildren(...docs.prose(item?.doc))
		report(item ? '' : `${count} to choose from: arrow down.`)
	}
	accept(n = this.active) {
		const item = this.items[n], { here } = this.analysis, rest = this.text.slice(here.to)
		let insert = item.insert ?? item.label
		// Text that follows the caret already is not inserted again.
		if (/^\s*[{(]/.test(rest)) insert = insert.replace(/(\(.*|\s*\{[^]*)$/, '')
		if (/^"?\s*:/.test(rest)) insert = insert.replace(/: \|$/, '')
		if (here.json && rest[0] === '"') insert = insert.replace(/"$/, '')
		const line = this.text.slice(0, here.from).split('\n').at(-1).match(/^\s*/)[0]
		insert = insert.replaceAll('\n', '\n' + line)
		const caret = insert.indexOf('|')
		this.close()
		this.edit(here.from, here.to, insert.replace('|', ''), here.from + (caret < 0 ? insert.length : caret))
		this.update()
		this.moved?.()
		if (caret >= 0) this.open(false)
	}
	close() {
		this.items = []
		$('popup').hidden = true
		this.area.removeAttribute('aria-activedescendant')
	}

	key(e) {
		const { area } = this, open = this.items.length > 0, chosen = open && this.active >= 0
		const plain = !e.ctrlKey && !e.metaKey && !e.altKey
		const done = does => { e.preventDefault(); does?.() }
		if (e.isComposing) return
		if (e.code === 'Space' && (e.ctrlKey || (e.altKey && e.shiftKey))) return done(() => this.open(true))
		if (e.key === 'F8') return done(() => this.next())
		if (e.key === '/' && (e.ctrlKey || e.metaKey)) return done(() => this.comment())
		if (!plain) return
		if (open && e.key === 'ArrowDown') return done(() => this.choose(this.active + 1))
		if (open && e.key === 'ArrowUp') return done(() => this.choose(this.active <= 0 ? this.items.length - 1 : this.active - 1))
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
	pair(e, done) {
		const { text, caret } = this, next = text[caret] ?? '', close = { '{': '}', '(': ')', '[': ']', '"': '"' }[e.key]
		const code = !this.analysis.tokens.some(t => /comment|string|bad/.test(t.k) && t.s < caret && caret < t.e)
		if (next === e.key && /[)\]}"]/.test(e.key)) return done(() => { this.area.setSelectionRange(caret + 1, caret + 1); this.move() })
		if (close && code && !/[\w"$]/.test(next) && !(e.key === '"' && /["\w]/.test(text[caret - 1] ?? ''))) return done(() => {
			this.edit(caret, caret, e.key + close, caret + 1)
			this.update()
			if (e.key !== '"') this.open(false)
		})
		if (e.key === 'Backspace' && /^(\{\}|\(\)|\[\]|"")$/.test(text.slice(caret - 1, caret + 1))) done(() => this.edit(caret - 1, caret + 1, ''))
	}
	newline() {
		const { selectionStart: s, selectionEnd: e } = this.area, { text } = this
		const indent = text.slice(0, s).split('\n').at(-1).match(/^\s*/)[0]
		const opens = /[{([]\s*$/.test(text.slice(0, s)) && /\S/.test(text.slice(0, s)), closes = /^[ \t]*[})\]]/.test(text.slice(e))
		const inner = '\n' + indent + (opens ? '  ' : '')
		this.close()
		this.edit(s, e, inner + (opens && closes ? '\n' + indent : ''), s + inner.length)
		this.update()
	}
	// lines changes each line of the selection.
	lines(change) {
		const { selectionStart: s, selectionEnd: e } = this.area, { text } = this
		const from = text.lastIndexOf('\n', s - 1) + 1, to = text.indexOf('\n', e) < 0 ? text.length : text.indexOf('\n', e)
		const after = change(text.slice(from, to).split('\n')).join('\n')
		if (after === text.slice(from, to)) return
		this.edit(from, to, after)
		if (s !== e) this.area.setSelectionRange(from, from + after.length)
		else this.area.setSelectionRange(...Array(2).fill(Math.max(from, s + after.length - (to - from))))
	}
	indent(back) {
		const { selectionStart: s, selectionEnd: e } = this.area
		if (back) this.lines(all => all.map(x => x.replace(/^ {1,2}|^\t/, '')))
		else if (s === e) this.edit(s, e, '  ')
		else this.lines(all => all.map(x => x && '  ' + x))
	}
	comment() {
		this.lines(all => all.every(x => /^\s*(#|$)/.test(x)) ? all.map(x => x.replace(/^(\s*)# ?/, '$1')) : all.map(x => x && '# ' + x))
	}
}
