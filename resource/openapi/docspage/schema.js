// Schemas: as a list of members with types, limits and nested members, and as types of Go and TypeScript.

// typeText returns the type of a schema in a few words, such as "array of Line".
function typeText(model, schema, depth = 0) {
	if (depth > 6) return 'any'
	const name = model.nameOf(schema)
	if (name && Object.hasOwn(model.schemas, name)) return name
	const s = flatSchema(model, schema), given = model.resolve(schema) ?? {}
	const choices = given.oneOf ?? given.anyOf
	if (choices) {
		return choices.filter(c => c?.type !== 'null').map(c => typeText(model, c, depth + 1)).join(' | ')
	}
	const [type] = typesOf(s)
	if (type === 'array') return `array of ${typeText(model, s.items ?? {}, depth + 1)}`
	if (type === 'object' && !s.properties && typeof s.additionalProperties === 'object') {
		return `map of ${typeText(model, s.additionalProperties, depth + 1)}`
	}
	if (!type) return s.enum || s.const !== undefined ? 'constant' : 'any'
	return s.format && s.format !== 'int64' && s.format !== 'int32' ? `${type} (${s.format})` : s.format ?? type
}

const isNumber = v => typeof v === 'number' || typeof v === 'bigint'

// limitsOf returns the limits of a schema, such as "1 to 500 characters".
function limitsOf(s) {
	const span = (low, high, unit) => {
		const units = n => n === 1 ? unit : unit && unit + 's'
		if (low != null && high != null) return low === high ? `${low} ${units(low)}` : `${low} to ${high} ${units(high)}`
		return low != null ? `at least ${low} ${units(low)}` : high != null ? `at most ${high} ${units(high)}` : ''
	}
	const out = [
		span(s.minLength, s.maxLength, 'character'), span(s.minItems, s.maxItems, 'element'), span(s.minProperties, s.maxProperties, 'member'),
		span(s.minimum, s.maximum, '').trim(),
		isNumber(s.exclusiveMinimum) && `more than ${s.exclusiveMinimum}`,
		isNumber(s.exclusiveMaximum) && `less than ${s.exclusiveMaximum}`,
		s.multipleOf && `multiple of ${s.multipleOf}`, s.uniqueItems && 'unique', s.pattern && `matches ${s.pattern}`,
		s.default !== undefined && `default ${JSON.stringify(s.default)}`,
		s.const !== undefined && `always ${JSON.stringify(s.const)}`,
	]
	return out.filter(Boolean)
}

// facts returns the elements that describe a schema besides its type: limits and accepted values.
function facts(model, schema) {
	const s = flatSchema(model, schema), items = typesOf(s)[0] === 'array' ? flatSchema(model, s.items ?? {}) : {}
	const values = s.enum ?? items.enum
	return [
		[...limitsOf(s), ...limitsOf(items).map(l => `each ${l}`)].map(l => make('span', { class: 'limit' }, l)),
		values && make('span', { class: 'enum' }, values.map(v => make('code', {}, typeof v === 'string' ? v : JSON.stringify(v)))),
	]
}

// innerSchema returns the object schema of which the members are shown for a schema: its own, that of its
// elements or that of its values.
function innerSchema(model, schema, depth = 0) {
	if (depth > 6) return null
	const s = flatSchema(model, schema)
	if (s.properties || s.oneOf || s.anyOf) return schema
	if (s.items) return innerSchema(model, s.items, depth + 1)
	if (typeof s.additionalProperties !== 'object') return null
	return innerSchema(model, s.additionalProperties, depth + 1)
}

// schemaView returns the members of a schema. reading hides writeOnly members, false hides readOnly ones,
// undefined shows all. within has the names of the schemas around it, '' for one without a name, so that a recursive
// schema ends.
function schemaView(model, schema, reading, within = []) {
	const inner = innerSchema(model, schema)
	if (!inner) return make('p', { class: 'lone' }, make('span', { class: 'type' }, typeText(model, schema)), ' ', facts(model, schema), markdown(flatSchema(model, schema).description))
	const s = flatSchema(model, inner), name = model.nameOf(inner), around = [...within, name]
	const choices = s.oneOf ?? s.anyOf
	const unseen = () => make('p', { class: 'faint' }, 'Further members are not shown.')
	if (choices && !s.properties && within.length > 6) return unseen()
	if (choices && !s.properties) return make('div', { class: 'choices' }, choices.map((c, i) => make('details', { open: choices.length < 3 && !within.length }, make('summary', {}, i ? 'or ' : 'either ', make('span', { class: 'type' }, typeText(model, c))), schemaView(model, c, reading, around))))
	const shown = Object.entries(s.properties ?? {}).filter(([, p]) => { const m = flatSchema(model, p); return reading === undefined || !(reading ? m.writeOnly : m.readOnly) })
	return make('ul', { class: 'members' }, shown.map(([key, p]) => {
		const m = flatSchema(model, p), nested = innerSchema(model, p), of = nested && model.nameOf(nested)
		return make('li', {},
			make('div', { class: 'member' }, make('code', { class: 'field' }, key), make('span', { class: 'type' }, typeText(model, p)),
				s.required?.includes(key) && make('span', { class: 'required' }, 'required'), nullable(m) && make('span', { class: 'limit' }, 'or null'),
				m.readOnly && reading !== true && make('span', { class: 'limit' }, 'read only'), m.writeOnly && make('span', { class: 'limit' }, 'write only'),
				m.deprecated && make('span', { class: 'old' }, 'deprecated'), facts(model, p)),
			markdown(m.description),
			nested && (of && around.includes(of) || around.length > 6
				? Object.hasOwn(model.schemas, of)
					? make('a', { class: 'more', href: `#schema/${encodeURIComponent(of)}` }, `Members of ${of}`) : unseen()
				: make('details', {}, make('summary', {}, 'Members', make('span', { class: 'unseen' }, ` of ${key}`)), schemaView(model, p, reading, around))))
	}), !shown.length && make('li', { class: 'faint' }, 'No members.'))
}

// tsType returns the TypeScript type of a schema.
function tsType(model, schema, reading, indent = '', depth = 0) {
	if (depth > 9) return 'unknown'
	const s = flatSchema(model, schema), or = nullable(s) ? ' | null' : '', values = s.enum ?? (s.const !== undefined ? [s.const] : null)
	if (values) return values.map(v => JSON.stringify(v)).join(' | ') + or
	const choices = s.oneOf ?? s.anyOf
	if (choices) return [...new Set(choices.map(c => tsType(model, c, reading, indent, depth + 1)))].join(' | ')
	switch (typesOf(s)[0]) {
	case 'string': return 'string' + or
	case 'integer': case 'number': return 'number' + or
	case 'boolean': return 'boolean' + or
	case 'array': {
		const each = tsType(model, s.items ?? {}, reading, indent, depth + 1)
		return (/[|]/.test(each.replace(/\{[^]*\}/, '')) ? `(${each})[]` : `${each}[]`) + or
	}
	case 'object': {
		const all = Object.entries(s.properties ?? {}).filter(([, p]) => !flatSchema(model, p)[reading ? 'writeOnly' : 'readOnly'])
		if (!all.length || depth > 4) return `Record<string, ${typeof s.additionalProperties === 'object' ? tsType(model, s.additionalProperties, reading, indent, depth + 1) : 'unknown'}>${or}`
		const key = k => /^[A-Za-z_$][\w$]*$/.test(k) ? k : JSON.stringify(k)
		return `{\n${all.map(([k, p]) => `${indent}  ${key(k)}${s.required?.includes(k) ? '' : '?'}: ${tsType(model, p, reading, indent + '  ', depth + 1)};\n`).join('')}${indent}}${or}`
	}
	}
	return 'unknown'
}

// goType returns the Go type of a schema.
function goType(model, schema, indent = '', depth = 0) {
	if (depth > 9) return 'any'
	const s = flatSchema(model, schema), to = nullable(s) ? '*' : ''
	switch (typesOf(s)[0]) {
	case 'string': return to + (s.format === 'date-time' ? 'time.Time' : 'string')
	case 'integer': return to + (['int32', 'uint32', 'uint64'].includes(s.format) ? s.format : 'int64')
	case 'number': return to + 'float64'
	case 'boolean': return to + 'bool'
	case 'array': return '[]' + goType(model, s.items ?? {}, indent, depth + 1)
	case 'object': {
		const all = Object.entries(s.properties ?? {}).filter(([k, p]) => !flatSchema(model, p).writeOnly && /^\w+$/.test(k))
		if (!all.length || depth > 4) return 'map[string]any'
		const names = all.map(([k]) => goName(k)), wide = Math.max(...names.map(n => n.length))
		return `struct {\n${all.map(([k, p], i) => `${indent}\t${names[i].padEnd(wide)} ${goType(model, p, indent + '\t', depth + 1)} \`json:"${k}"\`\n`).join('')}${indent}}`
	}
	}
	return 'any'
}
const goName = k => k.split(/[^A-Za-z0-9]+/).filter(Boolean).map(w => w[0].toUpperCase() + w.slice(1)).join('').replace(/^\d/, 'X$&').replace(/(Id|Url)(?=[A-Z]|$)/g, x => x.toUpperCase())
