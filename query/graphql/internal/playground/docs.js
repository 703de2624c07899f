// The docs pane. Its position in the schema is a stack of definitions, as analyse returns them in thing.
const docs = {
	stack: [],
	schema: null,

	show(thing) {
		const same = JSON.stringify(this.name(thing)) === JSON.stringify(this.name(this.stack.at(-1)))
		if (!same) this.stack.push(thing)
		this.draw()
		$('docs-title').focus()
	},
	back() {
		this.stack.pop()
		this.draw()
		$('docs-title').focus()
	},
	reset(schema) {
		this.schema = schema
		this.stack = []
		this.draw()
	},
	name: thing => !thing ? 'Schema' : thing.field ? `${thing.field.parent ? thing.field.parent + '.' : ''}${thing.field.name}` : thing.directive ? '@' + thing.directive.name : thing.type,

	draw() {
		const thing = this.stack.at(-1), { schema } = this
		$('docs-title').textContent = this.name(thing)
		$('docs-back').hidden = !thing
		$('docs-back').textContent = '‹ ' + this.name(this.stack.at(-2))
		$('docs-body').replaceChildren(...(!schema ? [make('p', { class: 'faint' }, this.missing ?? 'The schema is on its way.')]
			: !thing ? this.home() : thing.field ? this.field(thing.field) : thing.directive ? this.directive(thing.directive)
				: this.type(schema.types.get(named(thing.type)))).flat().filter(Boolean))
		$('docs-body').scrollTop = 0
	},

	// prose returns the nodes of a description: paragraphs, and code between backticks.
	prose: text => (text ?? '').split(/\n\s*\n/).filter(Boolean).map(p =>
		make('p', {}, p.split(/(`[^`]+`)/).map(x => /^`.+`$/.test(x) ? make('code', {}, x.slice(1, -1)) : x))),
	// to returns a button that shows another definition.
	to(text, thing, c) {
		return make('button', { type: 'button', class: 'to ' + c, onclick: () => this.show(thing) }, text)
	},
	ref(type) {
		const [before, after] = type.split(named(type))
		return [before, this.to(named(type), { type: named(type) }, 'type'), after]
	},
	list: (title, items) => items.length > 0 && [make('h3', {}, title), make('ul', {}, items.map(x => make('li', {}, x)))],
	// folded returns such a list, closed at first.
	folded(title, items) {
		const [head, list] = this.list(title, items) || []
		return head && make('details', {}, make('summary', {}, head), list)
	},
	old: x => x.isDeprecated && make('p', { class: 'note' }, 'Deprecated' + (x.deprecationReason ? ': ' + x.deprecationReason : '.')),
	one: text => (text ?? '').split(/\n\s*\n/)[0],

	home() {
		const { roots, types, directives, description } = this.schema
		const kinds = { OBJECT: 'Types', INTERFACE: 'Interfaces', UNION: 'Unions', INPUT_OBJECT: 'Inputs', ENUM: 'Enums', SCALAR: 'Scalars' }
		const all = [...types.values()].filter(t => !t.name.startsWith('__') && !Object.values(roots).includes(t)).sort((a, b) => a.name < b.name ? -1 : 1)
		return [
			this.prose(description),
			Object.entries(roots).map(([kind, t]) => t && this.list(kind[0].toUpperCase() + kind.slice(1), [...t.fields.values()].map(f => this.line(f)))),
			Object.entries(kinds).map(([kind, title]) => this.folded(`${title} (${all.filter(t => t.kind === kind).length})`, all.filter(t => t.kind === kind).map(t => this.to(t.name, { type: t.name }, 'type')))),
			this.folded('Directives', [...directives.values()].map(d => this.to('@' + d.name, { directive: d }, 'directive'))),
			make('p', {}, make('a', { href: sdl() }, 'The schema as text')),
		].flat(2)
	},
	// line returns the row of a field.
	line(f) {
		return [this.to(f.name, { field: f }, 'field' + (f.isDeprecated ? ' old' : '')), f.args.size ? '(…): ' : ': ', this.ref(f.type), this.prose(this.one(f.description))]
	},
	input(x) {
		return [make('span', { class: 'argument' + (x.isDeprecated ? ' old' : '') }, x.name), ': ', this.ref(x.type), x.defaultValue != null && ` = ${x.defaultValue}`, this.prose(x.description), this.old(x)]
	},
	type(t) {
		if (!t) return [make('p', {}, 'There is no such type.')]
		return [
			make('p', { class: 'faint' }, t.kind.toLowerCase().replace('_', ' ')), this.prose(t.description),
			t.specifiedByURL && make('p', {}, 'Specified by ', t.specifiedByURL),
			t.isOneOf && make('p', {}, 'Exactly one of the fields is to be given.'),
			this.list('Implements', (t.interfaces ?? []).map(i => this.to(i.name, { type: i.name }, 'type'))),
			this.list('Fields', [...t.fields?.values() ?? []].map(f => this.line(f))),
			this.list('Fields', [...t.inputs.values()].map(x => this.input(x))),
			this.list('Values', [...t.values.values()].map(v => [make('span', { class: 'enum' + (v.isDeprecated ? ' old' : '') }, v.name), this.prose(v.description), this.old(v)])),
			this.list('Possible types', (t.possibleTypes ?? []).map(p => this.to(p.name, { type: p.name }, 'type'))),
			this.list('Used by', this.users(t)),
		]
	},
	users(t) {
		const fields = [...this.schema.types.values()].filter(x => !x.name.startsWith('__')).flatMap(x => [...x.fields?.values() ?? []])
		return fields.filter(f => named(f.type) === t.name || [...f.args.values()].some(a => named(a.type) === t.name))
			.slice(0, 30).map(f => this.to(`${f.parent}.${f.name}`, { field: f }, 'field'))
	},
	field(f) {
		const kind = Object.entries(this.schema.roots).find(([, t]) => t && t.name === f.parent)?.[0]
		return [
			make('p', { class: 'signature' }, f.name, ': ', this.ref(f.type)), this.old(f), this.prose(f.description),
			kind && make('button', { type: 'button', onclick: () => tryField(kind, f) }, 'Write this ' + kind),
			this.list('Arguments', [...f.args.values()].map(a => this.input(a))),
			this.list('Fields of ' + named(f.type), [...this.schema.type(f.type)?.fields?.values() ?? []].map(x => this.line(x))),
			f.parent && this.list('Field of', [this.to(f.parent, { type: f.parent }, 'type')]),
		]
	},
	directive(d) {
		return [this.prose(d.description), make('p', { class: 'faint' }, d.locations.join(', ').toLowerCase().replaceAll('_', ' ')), this.list('Arguments', [...d.args.values()].map(a => this.input(a)))]
	},

	// find returns the types and the fields with a text in their names; names that begin with it are first.
	find(typed) {
		const found = [], text = typed.trim().toLowerCase()
		if (!text || !this.schema) return found
		const add = (name, label, thing, c) => {
			const at = name.toLowerCase().indexOf(text), whole = label.toLowerCase().indexOf(text)
			if (at >= 0 || whole >= 0) found.push({ label, thing, c, rank: (at === 0 ? name.length : 100 + whole) - (c === 'type' ? 0.5 : 0) })
		}
		for (const t of this.schema.types.values()) {
			if (t.name.startsWith('__')) continue
			add(t.name, t.name, { type: t.name }, 'type')
			for (const f of t.fields?.values() ?? []) add(f.name, `${t.name}.${f.name}`, { field: f }, 'field')
			for (const x of [...t.inputs.values(), ...t.values.values()]) add(x.name, `${t.name}.${x.name}`, { type: t.name }, 'argument')
		}
		return found.sort((a, b) => a.rank - b.rank).slice(0, 40)
	},
}

// searching makes the search field a combobox.
function searching(field, list) {
	let found = [], active = -1
	const close = () => {
		list.hidden = true
		field.setAttribute('aria-expanded', 'false')
		field.removeAttribute('aria-activedescendant')
	}
	const choose = n => {
		active = found.length ? (n + found.length) % found.length : -1
		for (const x of list.children) x.setAttribute('aria-selected', x.id === 'found-' + active)
		$('found-' + active)?.scrollIntoView({ block: 'nearest' })
		if (active >= 0) field.setAttribute('aria-activedescendant', 'found-' + active)
	}
	const go = n => {
		if (!found[n]) return
		const { thing } = found[n]
		field.value = ''
		close()
		docs.show(thing)
	}
	field.addEventListener('input', () => {
		found = docs.find(field.value)
		list.replaceChildren(...found.map((x, n) => make('li', { role: 'option', id: 'found-' + n, 'aria-selected': 'false', class: x.c, onpointerdown: e => { e.preventDefault(); go(n) } }, x.label)))
		if (!field.value.trim()) return close()
		list.hidden = !found.length
		field.setAttribute('aria-expanded', found.length > 0)
		report(found.length ? `${found.length} found` : 'Nothing found.')
		choose(0)
	})
	field.addEventListener('keydown', e => {
		const does = { ArrowDown: () => choose(active + 1), ArrowUp: () => choose(active - 1), Enter: () => go(active), Escape: () => { field.value = ''; close() } }[e.key]
		if (!does) return
		e.preventDefault()
		does()
	})
	field.addEventListener('blur', close)
}
