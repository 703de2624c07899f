// Search over operations, their parameters and descriptions, and schemas.

// findAll returns what matches all words of a text, best first: {text, about, href, method}.
function findAll(model, text) {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean), found = []
	if (!words.length) return found
	const score = (...fields) => {
		let sum = 0
		for (const w of words) {
			const i = fields.findIndex(f => f.toLowerCase().includes(w))
			if (i < 0) return 0
			sum += fields.length - i
		}
		return sum
	}
	for (const op of model.operations) {
		const n = score(`${op.method} ${op.path}`, op.id, op.summary, op.parameters.map(p => p.name).join(' '), op.description)
		if (n) found.push({ n: n + (op.method === 'OPTIONS' ? -9 : 0), text: op.path, method: op.method, about: op.summary, href: hrefOf(op) })
	}
	for (const [name, s] of Object.entries(model.schemas)) {
		const n = score(name, Object.keys(s.properties ?? {}).join(' '))
		if (n) found.push({ n: n - 1, text: name, about: 'schema', href: `#schema/${name}` })
	}
	return found.sort((a, b) => b.n - a.n).slice(0, 30)
}

// searching makes a combobox of an input and a list. modelOf returns the current model.
function searching(input, list, modelOf) {
	let found = [], at = 0
	const close = () => {
		list.hidden = true
		input.setAttribute('aria-expanded', false)
		input.removeAttribute('aria-activedescendant')
	}
	const go = i => {
		location.hash = found[i].href
		input.value = ''
		close()
		$('main').focus()
	}
	const mark = () => [...list.children].forEach((e, i) => {
		e.setAttribute('aria-selected', i === at)
		if (i === at) {
			input.setAttribute('aria-activedescendant', e.id)
			e.scrollIntoView({ block: 'nearest' })
		}
	})
	const open = () => {
		found = modelOf() ? findAll(modelOf(), input.value) : []
		at = 0
		list.replaceChildren(...found.map((f, i) => make('li', { role: 'option', id: `found-${i}`, onmousedown: e => { e.preventDefault(); go(i) } }, f.method && badge(f.method), make('code', {}, f.text), make('small', {}, f.about))))
		list.hidden = !found.length
		input.setAttribute('aria-expanded', !!found.length)
		if (found.length) mark()
		else input.removeAttribute('aria-activedescendant')
		if (input.value.trim()) report(`${found.length} found.`)
	}
	input.addEventListener('input', open)
	input.addEventListener('blur', close)
	input.addEventListener('keydown', e => {
		if (e.key === 'Escape') { input.value = ''; close(); $('main').focus() }
		else if (list.hidden) return
		else if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { at = (at + (e.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length; mark() }
		else if (e.key === 'Enter') go(at)
		else return
		e.preventDefault()
	})
}
