// All content is inserted as text: nothing that a server or a link contains is ever parsed as HTML.
const $ = id => document.getElementById(id)

// make returns an element. Properties that begin with "on" are listeners; "class", "role" and those with a "-" are
// attributes; the others are members.
function make(tag, properties, ...children) {
	const e = document.createElement(tag)
	for (const [k, v] of Object.entries(properties ?? {})) {
		if (k.startsWith('on')) e.addEventListener(k.slice(2), v)
		else if (k === 'class' || k === 'role' || k.includes('-')) e.setAttribute(k, v)
		else e[k] = v
	}
	e.append(...children.flat(9).filter(x => x != null && x !== false))
	return e
}

// shades returns nodes that show a text, with tokens in the colours of their classes and marks underlined.
function shades(text, tokens, marks = []) {
	const nodes = []
	let at = 0, plain = ''
	for (const t of tokens) {
		plain += text.slice(at, t.s)
		at = t.e
		const marked = marks.filter(m => m.s < t.e && t.s < Math.max(m.e, m.s + 1))
		const c = (t.c ?? '') + (marked.length ? marked.every(m => m.mild) ? ' mild' : ' wrong' : '')
		if (!c || /^[[\]{}:,]$/.test(c)) {
			plain += text.slice(t.s, t.e)
			continue
		}
		if (plain) nodes.push(plain)
		plain = ''
		nodes.push(make('span', { class: c }, text.slice(t.s, t.e)))
	}
	nodes.push(plain + text.slice(at))
	return nodes
}

// kept is a store in the browser, which may be missing, full or forbidden.
const kept = {
	key: name => `stoa.graphql ${location.pathname} ${name}`,
	get(name, where = 'localStorage') {
		try {
			return JSON.parse(window[where].getItem(this.key(name)))
		} catch {
			return null
		}
	},
	set(name, value, where = 'localStorage') {
		try {
			window[where].setItem(this.key(name), JSON.stringify(value))
		} catch {
			// The page works without it.
		}
	},
}

// report writes to the status line, which screen readers announce. reportLater waits for a pause in typing.
let later
const report = text => {
	clearTimeout(later)
	$('status').textContent = text
}
const reportLater = what => {
	clearTimeout(later)
	later = setTimeout(what, 400)
}

// tabs adds the behavior of a tablist: arrow keys move between tabs, and the selected tab shows its panel.
function tabs(list, chosen) {
	const all = [...list.querySelectorAll('[role=tab]')]
	const choose = (tab, focus) => {
		for (const t of all) {
			t.setAttribute('aria-selected', t === tab)
			t.tabIndex = t === tab ? 0 : -1
			const panel = $(t.getAttribute('aria-controls'))
			panel.dataset.shown = t === tab
		}
		if (focus) tab.focus()
		chosen?.(tab)
	}
	list.addEventListener('click', e => { const t = e.target.closest('[role=tab]'); if (t) choose(t) })
	list.addEventListener('keydown', e => {
		const n = all.indexOf(e.target), to = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: -1 }[e.key]
		if (n < 0 || to === undefined) return
		e.preventDefault()
		choose(all.at(to % all.length), true)
	})
	choose(all[0])
	return id => choose($(id))
}

// splitter makes a separator movable with the pointer or arrow keys. It sets a property of its parent, in percent.
function splitter(bar, property, upright) {
	const parent = bar.parentElement
	const set = percent => {
		percent = Math.round(Math.max(15, Math.min(85, percent)))
		parent.style.setProperty(property, percent + '%')
		bar.setAttribute('aria-valuenow', percent)
		kept.set(property, percent)
	}
	bar.addEventListener('pointerdown', e => {
		e.preventDefault()
		bar.setPointerCapture(e.pointerId)
		bar.onpointermove = e => {
			const box = parent.getBoundingClientRect()
			set(upright ? (e.clientX - box.left) / box.width * 100 : (e.clientY - box.top) / box.height * 100)
		}
	})
	bar.addEventListener('pointerup', () => { bar.onpointermove = null })
	bar.addEventListener('keydown', e => {
		const by = { ArrowLeft: -5, ArrowUp: -5, ArrowRight: 5, ArrowDown: 5 }[e.key]
		if (!by) return
		e.preventDefault()
		set(+bar.getAttribute('aria-valuenow') + by)
	})
	set(kept.get(property) ?? +bar.getAttribute('aria-valuenow'))
}
