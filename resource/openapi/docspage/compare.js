// Two versions side by side: operations that only one of them has, and the differences of those that both have.

// linesOf describes a schema by lines: the path of each member, and its type and limits.
function linesOf(model, schema, reading, at, out = new Map(), depth = 0) {
	const s = flatSchema(model, schema)
	const values = s.enum ? ` ${s.enum.map(v => JSON.stringify(v)).join(' | ')}` : ''
	out.set(at, `${typesOf(s).join(' | ') || 'any'}${s.format ? ` (${s.format})` : ''}${nullable(s) ? ' or null' : ''}${values}${limitsOf(s).map(l => `, ${l}`).join('')}`)
	if (depth > 6) return out
	for (const choice of s.oneOf ?? s.anyOf ?? []) if (choice?.type !== 'null') linesOf(model, choice, reading, at, out, depth + 1)
	for (const [key, p] of Object.entries(s.properties ?? {})) {
		if (flatSchema(model, p)[reading ? 'writeOnly' : 'readOnly']) continue
		linesOf(model, p, reading, `${at}.${key}`, out, depth + 1)
		if (s.required?.includes(key)) out.set(`${at}.${key}`, out.get(`${at}.${key}`) + ', required')
	}
	if (s.items) linesOf(model, s.items, reading, `${at}[]`, out, depth + 1)
	return out
}

// operationLines describes an operation by lines. Parameters and media types that name the version are left out.
function operationLines(model, op) {
	const out = new Map()
	for (const p of op.parameters) if (!/version/i.test(p.name)) for (const [at, text] of linesOf(model, p.schema ?? {}, false, `${p.in} ${p.name}`)) out.set(at, text + (p.required ? ', required' : ''))
	const add = (content, reading, at) => {
		for (const media of mediaTypes(content)) if (!/\.v?\d/.test(media)) for (const [path, text] of linesOf(model, content[media].schema ?? {}, reading, `${at} ${media}`)) out.set(path, text)
	}
	add(op.body?.content, false, 'body')
	for (const r of op.responses) {
		out.set(`response ${r.status}`, 'possible')
		if (/^2/.test(r.status)) add(r.content, true, r.status)
	}
	if (op.deprecated) out.set('deprecated', 'yes')
	return out
}

// differences returns [path, here, there] of the lines that differ. A member that is absent hides its own members.
function differences(here, there) {
	const out = []
	for (const at of [...new Set([...here.keys(), ...there.keys()])]) {
		const a = here.get(at), b = there.get(at)
		if (a === b || out.some(([path, x, y]) => (x === undefined) !== (y === undefined) && (at.startsWith(path + '.') || at.startsWith(path + '[')))) continue
		out.push([at, a, b])
	}
	return out
}

// compareView shows the differences between two documents.
function compareView(left, right, other, choose) {
	const key = o => `${o.method} ${o.path}`, names = new Set([...left.operations, ...right.operations].map(key)), rows = []
	let equal = 0
	for (const name of names) {
		const a = left.operations.find(o => key(o) === name), b = right.operations.find(o => key(o) === name)
		const [method, path] = name.split(' ')
		if (method === 'OPTIONS') continue
		const title = make('h2', {}, badge(method), ' ', make('code', {}, path))
		if (!a || !b) {
			rows.push(make('section', { class: 'difference' }, title, make('p', { class: 'sides' }, make('span', { class: a ? '' : 'none' }, a ? 'available' : '–'), make('span', { class: b ? '' : 'none' }, b ? 'available' : '–'))))
			continue
		}
		const all = differences(operationLines(left, a), operationLines(right, b))
		if (!all.length) { equal++; continue }
		rows.push(make('details', { class: 'difference', open: rows.length < 3 }, make('summary', {}, title, make('span', { class: 'count' }, String(all.length))), make('dl', {}, all.map(([at, x, y]) => [
			make('dt', {}, at), make('dd', { class: x === undefined ? 'none' : y === undefined ? 'only' : '' }, x ?? '–'), make('dd', { class: y === undefined ? 'none' : x === undefined ? 'only' : '' }, y ?? '–')]))))
	}
	return [
		make('h1', {}, 'Compare versions'),
		make('div', { class: 'sides heads' }, make('b', {}, left.doc.info.version), choose),
		make('p', { class: 'faint' }, `${rows.length} operations differ, ${equal} are equal. Members are shown with their types and limits.`),
		rows,
	]
}
