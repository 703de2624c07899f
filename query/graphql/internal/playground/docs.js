// The docs pane. Its position in the schema is a stack of definitions.
import { $, make, report } from '../../../../resource/httpbody/page/dom.js'
import { sdl } from './endpoint.js'
import { named } from './schema.js'
/** @import { Children } from '../../../../resource/httpbody/page/types' */
/** @import { Definition, Directive, Field, InputValue, Kind, Schema, Thing, Type } from './types' */

/** @type {Record<string, string>} */
const GROUPS = {
	OBJECT: 'Types', INTERFACE: 'Interfaces', UNION: 'Unions', INPUT_OBJECT: 'Inputs', ENUM: 'Enums',
	SCALAR: 'Scalars',
}

export const docs = {
	/** @type {Thing[]} */
	stack: [],
	/** @type {Schema | null} */
	schema: null,
	// missing is why there is no schema.
	/** @type {string | undefined} */
	missing: undefined,
	// write replaces the document by an operation for a field of a root.
	/** @type {(kind: Kind, field: Field) => void} */
	write() {},

	/** @param {Thing} thing */
	show(thing) {
		if (this.name(thing) !== this.name(this.stack.at(-1))) this.stack.push(thing)
		this.draw()
		$('docs-title').focus()
	},
	back() {
		this.stack.pop()
		this.draw()
		$('docs-title').focus()
	},
	/** @param {Schema | null} schema */
	reset(schema) {
		this.schema = schema
		this.stack = []
		this.draw()
	},
	/** @param {Thing} [thing] */
	name(thing) {
		if (!thing) return 'Schema'
		const { field, directive, type } = thing
		if (field) return (field.parent ? field.parent + '.' : '') + field.name
		return directive ? '@' + directive.name : type ?? ''
	},

	draw() {
		const thing = this.stack.at(-1), { schema } = this
		$('docs-title').textContent = this.name(thing)
		$('docs-back').hidden = !thing
		$('docs-back').textContent = '‹ ' + this.name(this.stack.at(-2))
		const missing = make('p', { class: 'faint' }, this.missing ?? 'The schema is on its way.')
		const content = make('div', {}, schema ? this.body(schema, thing) : missing)
		$('docs-body').replaceChildren(...content.childNodes)
		$('docs-body').scrollTop = 0
	},
	/** @type {(schema: Schema, thing?: Thing) => Children} */
	body(schema, thing) {
		if (!thing) return this.home(schema)
		if (thing.field) return this.field(schema, thing.field)
		return thing.directive ? this.directive(thing.directive) : this.type(schema, schema.type(thing.type))
	},

	// prose returns the nodes of a description: paragraphs, and code between backticks.
	/** @param {string | null} [text] */
	prose(text) {
		const inline = (/** @type {string} */ x) => /^`.+`$/.test(x) ? make('code', {}, x.slice(1, -1)) : x
		const paragraphs = (text ?? '').split(/\n\s*\n/).filter(Boolean)
		return paragraphs.map(p => make('p', {}, p.split(/(`[^`]+`)/).map(inline)))
	},
	// to returns a button that shows another definition.
	/** @type {(text: string, thing: Thing, c: string) => HTMLElement} */
	to(text, thing, c) {
		return make('button', { type: 'button', class: 'to ' + c, onclick: () => this.show(thing) }, text)
	},
	/** @param {string} type */
	ref(type) {
		const [before, after] = type.split(named(type))
		return [before, this.to(named(type), { type: named(type) }, 'type'), after]
	},
	/** @type {(title: string, items: Children[]) => Children} */
	list: (title, items) => items.length > 0 &&
		[make('h3', {}, title), make('ul', {}, items.map(x => make('li', {}, x)))],
	// folded returns such a list, closed at first.
	/** @type {(title: string, items: Children[]) => Children} */
	folded: (title, items) => items.length > 0 && make('details', {},
		make('summary', {}, make('h3', {}, title)), make('ul', {}, items.map(x => make('li', {}, x)))),
	/** @param {Definition} x */
	old: x => x.isDeprecated &&
		make('p', { class: 'note' }, 'Deprecated' + (x.deprecationReason ? ': ' + x.deprecationReason : '.')),
	// one returns the first paragraph of a description.
	/** @param {string | null} [text] */
	one: text => (text ?? '').split(/\n\s*\n/)[0],

	/** @type {(schema: Schema) => Children} */
	home({ roots, types, directives, description }) {
		const all = [...types.values()].filter(t => !t.name.startsWith('__'))
			.filter(t => !Object.values(roots).includes(t)).sort((a, b) => a.name < b.name ? -1 : 1)
		const title = (/** @type {string} */ kind) => kind[0].toUpperCase() + kind.slice(1)
		return [
			this.prose(description),
			Object.entries(roots).map(([kind, t]) =>
				t && this.list(title(kind), [...t.fields?.values() ?? []].map(f => this.line(f)))),
			Object.entries(GROUPS).map(([kind, title]) => {
				const group = all.filter(t => t.kind === kind)
				const links = group.map(t => this.to(t.name, { type: t.name }, 'type'))
				return this.folded(`${title} (${group.length})`, links)
			}),
			this.folded('Directives',
				[...directives.values()].map(d => this.to('@' + d.name, { directive: d }, 'directive'))),
			make('p', {}, make('a', { href: sdl() }, 'The schema as text')),
		]
	},
	// line returns the row of a field.
	/** @param {Field} f */
	line(f) {
		const name = this.to(f.name, { field: f }, 'field' + (f.isDeprecated ? ' old' : ''))
		return [name, f.args.size ? '(…): ' : ': ', this.ref(f.type), this.prose(this.one(f.description))]
	},
	/** @param {InputValue} x */
	input(x) {
		const name = make('span', { class: 'argument' + (x.isDeprecated ? ' old' : '') }, x.name)
		const fallback = x.defaultValue != null && ` = ${x.defaultValue}`
		return [name, ': ', this.ref(x.type), fallback, this.prose(x.description), this.old(x)]
	},
	/** @param {Definition} v */
	value(v) {
		const name = make('span', { class: 'enum' + (v.isDeprecated ? ' old' : '') }, v.name)
		return [name, this.prose(v.description), this.old(v)]
	},
	/** @type {(schema: Schema, t?: Type) => Children} */
	type(schema, t) {
		if (!t) return make('p', {}, 'There is no such type.')
		const link = (/** @type {{ name: string }} */ { name }) => this.to(name, { type: name }, 'type')
		return [
			make('p', { class: 'faint' }, t.kind.toLowerCase().replace('_', ' ')), this.prose(t.description),
			t.specifiedByURL && make('p', {}, 'Specified by ', t.specifiedByURL),
			t.isOneOf && make('p', {}, 'Exactly one of the fields is to be given.'),
			this.list('Implements', (t.interfaces ?? []).map(link)),
			this.list('Fields', [...t.fields?.values() ?? []].map(f => this.line(f))),
			this.list('Fields', [...t.inputs.values()].map(x => this.input(x))),
			this.list('Values', [...t.values.values()].map(v => this.value(v))),
			this.list('Possible types', (t.possibleTypes ?? []).map(link)),
			this.list('Used by', this.users(schema, t)),
		]
	},
	/** @type {(schema: Schema, t: Type) => Children[]} */
	users(schema, t) {
		const types = [...schema.types.values()].filter(x => !x.name.startsWith('__'))
		return types.flatMap(x => [...x.fields?.values() ?? []])
			.filter(f => named(f.type) === t.name || [...f.args.values()].some(a => named(a.type) === t.name))
			.slice(0, 30).map(f => this.to(`${f.parent}.${f.name}`, { field: f }, 'field'))
	},
	/** @type {(schema: Schema, f: Field) => Children} */
	field(schema, f) {
		const roots = /** @type {[Kind, Type | undefined][]} */ (Object.entries(schema.roots))
		const kind = roots.find(([, t]) => t && t.name === f.parent)?.[0]
		const fields = [...schema.type(f.type)?.fields?.values() ?? []]
		return [
			make('p', { class: 'signature' }, f.name, ': ', this.ref(f.type)), this.old(f),
			this.prose(f.description),
			kind && make('button', { type: 'button', onclick: () => this.write(kind, f) },
				'Write this ' + kind),
			this.list('Arguments', [...f.args.values()].map(a => this.input(a))),
			this.list('Fields of ' + named(f.type), fields.map(x => this.line(x))),
			f.parent && this.list('Field of', [this.to(f.parent, { type: f.parent }, 'type')]),
		]
	},
	/** @type {(d: Directive) => Children} */
	directive(d) {
		return [
			this.prose(d.description),
			make('p', { class: 'faint' }, d.locations.join(', ').toLowerCase().replaceAll('_', ' ')),
			this.list('Arguments', [...d.args.values()].map(a => this.input(a))),
		]
	},

	// find returns the types and the fields with a text in their names; names that begin with it are
	// first.
	/** @param {string} typed */
	find(typed) {
		/** @type {{ label: string, thing: Thing, c: string, rank: number }[]} */
		const found = []
		const text = typed.trim().toLowerCase()
		if (!text || !this.schema) return found
		/** @type {(name: string, label: string, thing: Thing, c: string) => void} */
		const add = (name, label, thing, c) => {
			const at = name.toLowerCase().indexOf(text), whole = label.toLowerCase().indexOf(text)
			if (at < 0 && whole < 0) return
			const rank = (at === 0 ? name.length : 100 + whole) - (c === 'type' ? 0.5 : 0)
			found.push({ label, thing, c, rank })
		}
		for (const t of this.schema.types.values()) {
			const { name } = t, thing = { type: name }
			if (name.startsWith('__')) continue
			add(name, name, thing, 'type')
			for (const f of t.fields?.values() ?? []) add(f.name, `${name}.${f.name}`, { field: f }, 'field')
			for (const x of [...t.inputs.values(), ...t.values.values()]) {
				add(x.name, `${name}.${x.name}`, thing, 'argument')
			}
		}
		return found.sort((a, b) => a.rank - b.rank).slice(0, 40)
	},
}

// searching makes the search field a combobox.
/**
 * @param {HTMLInputElement} field
 * @param {HTMLElement} list
 */
export function searching(field, list) {
	let found = docs.find(''), active = -1
	const close = () => {
		list.hidden = true
		field.setAttribute('aria-expanded', 'false')
		field.removeAttribute('aria-activedescendant')
	}
	const choose = (/** @type {number} */ n) => {
		active = found.length ? (n + found.length) % found.length : -1
		for (const x of list.children) x.setAttribute('aria-selected', String(x.id === 'found-' + active))
		$('found-' + active)?.scrollIntoView({ block: 'nearest' })
		if (active >= 0) field.setAttribute('aria-activedescendant', 'found-' + active)
	}
	const go = (/** @type {number} */ n) => {
		if (!found[n]) return
		const { thing } = found[n]
		field.value = ''
		close()
		docs.show(thing)
	}
	field.addEventListener('input', () => {
		found = docs.find(field.value)
		list.replaceChildren(...found.map((x, n) => make('li', {
			role: 'option', id: 'found-' + n, 'aria-selected': 'false', class: x.c,
			onpointerdown: e => { e.preventDefault(); go(n) },
		}, x.label)))
		if (!field.value.trim()) return close()
		list.hidden = !found.length
		field.setAttribute('aria-expanded', String(found.length > 0))
		report(found.length ? `${found.length} found` : 'Nothing found.')
		choose(0)
	})
	field.addEventListener('keydown', e => {
		const act = {
			ArrowDown: () => choose(active + 1), ArrowUp: () => choose(active - 1), Enter: () => go(active),
			Escape: () => { field.value = ''; close() },
		}[e.key]
		if (!act) return
		e.preventDefault()
		act()
	})
	field.addEventListener('blur', close)
}
