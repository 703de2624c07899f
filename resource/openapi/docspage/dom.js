// The page is made of text: nothing that a document or a server contains is ever parsed as HTML.
const $ = id => document.getElementById(id)

// make returns an element. Properties that begin with "on" are listeners; "class", "role" and those with a "-" are
// attributes; the others are members.
function make(tag, properties, ...children) {
	const e = document.createElement(tag)
	for (const [k, v] of Object.entries(properties ?? {})) {
		if (v == null) continue
		if (k.startsWith('on')) e.addEventListener(k.slice(2), v)
		else if (k === 'class' || k === 'role' || k.includes('-')) e.setAttribute(k, v)
		else e[k] = v
	}
	e.append(...children.flat(9).filter(x => x != null && x !== false && x !== ''))
	return e
}

// kept is a store in the browser, which may be missing, full or forbidden.
const kept = {
	key: name => `stoa.docs ${location.pathname} ${name}`,
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

// report writes to the status line, which screen readers announce.
const report = text => { $('status').textContent = text }

// copyButton returns a button that copies the text that get returns.
const copyButton = (get, what) => make('button', {
	type: 'button', class: 'copy', 'aria-label': `Copy ${what}`, onclick: async e => {
		const button = e.currentTarget
		try {
			await navigator.clipboard.writeText(get())
			button.textContent = 'Copied'
			report(`${what} copied.`)
		} catch {
			// On plain HTTP there is no clipboard. The text is copied by the older command, or stays selected.
			button.parentElement.querySelector('.copied')?.remove()
			const area = make('textarea', { value: get(), readOnly: true, class: 'copied', 'aria-label': what })
			button.after(area)
			area.select()
			const done = document.execCommand('copy')
			if (done) {
				area.remove()
				button.focus()
			}
			button.textContent = done ? 'Copied' : 'Press Ctrl-C'
			report(done ? `${what} copied.` : `The ${what} is selected. Press Ctrl-C to copy it.`)
			if (!done) return
		}
		setTimeout(() => { button.textContent = 'Copy' }, 1500)
	},
}, 'Copy')

// tabs returns a list of tabs and their panel. make is called for the selected name. The selection is kept under key.
function tabs(label, key, names, panelOf) {
	const id = `tabs-${key}`, panel = make('div', { id: `${id}-panel`, role: 'tabpanel', 'aria-label': label })
	const all = names.map(name => make('button', {
		type: 'button', role: 'tab', id: `${id}-${name}`, 'aria-controls': panel.id, onclick: () => choose(name),
	}, name))
	const choose = (name, focus) => {
		kept.set(key, name)
		names.forEach((n, i) => {
			all[i].setAttribute('aria-selected', n === name)
			all[i].tabIndex = n === name ? 0 : -1
			if (n === name && focus) all[i].focus()
		})
		panel.replaceChildren(panelOf(name))
	}
	const list = make('div', {
		role: 'tablist', 'aria-label': label, onkeydown: e => {
			const to = { ArrowRight: 1, ArrowLeft: -1 }[e.key], n = all.indexOf(e.target)
			if (!to || n < 0) return
			e.preventDefault()
			choose(names.at((n + to) % names.length), true)
		},
	}, all)
	const selected = () => names.includes(kept.get(key)) ? kept.get(key) : names[0]
	choose(selected())
	return { list, panel, update: () => panel.replaceChildren(panelOf(selected())) }
}

// JSON_TOKEN matches the tokens of JSON. Numbers stay text, so that those beyond 2^53 are not rounded.
const JSON_TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g

// coloured returns nodes that show JSON in colours.
function coloured(text) {
	const nodes = []
	let at = 0
	for (const m of text.matchAll(JSON_TOKEN)) {
		const kind = m[2] ? 'field' : m[1] ? 'string' : m[3] ? 'number' : 'constant', token = m[2] ? m[1] : m[0]
		nodes.push(text.slice(at, m.index), make('span', { class: kind }, token))
		at = m.index + token.length
	}
	nodes.push(text.slice(at))
	return nodes
}

// pretty indents JSON. It works on the text, so numbers do not change. It returns the text itself if it is not JSON.
function pretty(text) {
	try {
		JSON.parse(text)
	} catch {
		return text
	}
	let depth = 0
	const line = () => '\n' + '  '.repeat(depth)
	return text.replace(/"(?:\\.|[^"\\])*"|\s+|[{[]\s*[}\]]|[{}[\],:]/g, t => {
		if (t[0] === '"') return t
		if (/^\s/.test(t)) return ''
		if (t.length > 1) return t[0] + t.at(-1)
		if ('{['.includes(t)) { depth++; return t + line() }
		if ('}]'.includes(t)) { depth--; return line() + t }
		return t === ',' ? t + line() : ': '
	})
}
