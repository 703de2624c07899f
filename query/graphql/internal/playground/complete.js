// complete returns the completions at a position that analyse found: {label, insert, detail, doc, old}, best first. A "|" in
// insert is the position of the caret afterwards.
function complete(here, text, caret, schema, analysis) {
	if (!here) return []
	const list = (choices[here.kind]?.(here, schema, analysis) ?? []).filter(x => x.label)
	const typed = text.slice(here.from, Math.min(caret, here.to)).replace(/^"/, '').toLowerCase()
	const rank = x => {
		const label = x.label.toLowerCase(), at = label.indexOf(typed)
		return (at === 0 ? 0 : at > 0 ? 1 : typed[2] && typed[0] === label[0] && subsequence(typed, label) ? 2 : 9) + (x.old ? 0.5 : 0)
	}
	return list.map(x => ({ ...x, rank: rank(x) })).filter(x => x.rank < 9).sort((a, b) => a.rank - b.rank)
}

function subsequence(part, whole) {
	let at = -1
	return [...part].every(c => (at = whole.indexOf(c, at + 1)) >= 0)
}

const choices = {
	top: (_, schema) => ['query', 'mutation', 'subscription'].filter(k => !schema || schema.roots[k])
		.map(k => ({ label: k, insert: `${k} {\n  |\n}`, doc: schema?.roots[k]?.description }))
		.concat({ label: 'fragment', insert: 'fragment | on ' }),
	on: () => [{ label: 'on', insert: 'on ' }],
	field({ parent }, schema) {
		if (!parent) return []
		const fields = [...parent.fields?.values() ?? []].map(f => {
			const deep = schema.type(f.type)?.fields, args = [...f.args.values()].filter(required)
			const given = args.length ? `(${args.map((a, n) => `${a.name}: ${n ? '' : '|'}`).join(', ')})` : ''
			return { label: f.name, insert: f.name + given + (deep && !given ? ' {\n  |\n}' : ''), detail: f.type, doc: f.description, old: f.isDeprecated }
		})
		return [...fields, { label: '__typename', detail: 'String!', doc: 'The name of the type of this object.' }]
	},
	spread: ({ parent }, schema, { fragments }) => [...fragments.values()].map(f => ({ label: f.name, detail: f.type }))
		.concat({ label: 'on', insert: parent ? `on ${parent.name} {\n  |\n}` : 'on ' }),
	condition: ({ parent }, schema) => types(schema, t => (t.fields || t.kind === 'UNION') &&
		(parent ? schema.objects(t).some(name => schema.objects(parent).includes(name)) : !t.name.startsWith('__'))),
	inputType: (_, schema) => types(schema, t => !t.fields && !/UNION|INTERFACE/.test(t.kind) && !t.name.startsWith('__')),
	argument: ({ inputs, given, json }) => [...inputs?.values() ?? []].filter(a => !given.has(a.name)).map(a => ({
		label: a.name, insert: json ? `"${a.name}": |` : `${a.name}: |`, old: a.isDeprecated, doc: a.description,
		detail: a.type + (a.defaultValue == null ? '' : ' = ' + a.defaultValue),
	})),
	value({ type, fixed, json }, schema, analysis) {
		const t = type && schema?.type(type), quote = json ? '"' : ''
		const values = [...t?.values.values() ?? []].map(v => ({ label: v.name, insert: quote + v.name + quote, detail: t.name, doc: v.description, old: v.isDeprecated }))
		if (t?.name === 'Boolean') values.push({ label: 'true' }, { label: 'false' })
		if (t?.inputs.size) values.push({ label: '{ … }', insert: '{|}', detail: t.name, doc: t.description })
		if (type && !type.endsWith('!')) values.push({ label: 'null' })
		return fixed ? values : [...choices.variable({ type }, schema, analysis, '$'), ...values]
	},
	variable: ({ type }, schema, { operations }, sign = '') => operations.flatMap(o => [...o.variables.values()])
		.filter(v => !type || !v.type || named(v.type) === named(type)).map(v => ({ label: sign + v.name, detail: v.type })),
	directive: ({ location }, schema) => [...schema?.directives.values() ?? []].filter(d => d.locations.includes(location))
		.map(d => ({ label: d.name, insert: d.name + ([...d.args.values()].some(required) ? `(${[...d.args.values()].find(required).name}: |)` : ''), doc: d.description })),
}

const types = (schema, wanted) => [...schema?.types.values() ?? []].filter(wanted)
	.map(t => ({ label: t.name, detail: t.kind.toLowerCase().replace('_', ' '), doc: t.description }))
