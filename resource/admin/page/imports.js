// Imports: many items from one file of JSON Lines or CSV.

// importView returns the view of an import command.
async function importView(command) {
	const resource = resourceNamed(command.target)
	const input = make('input', { type: 'file', required: true, accept: '.jsonl,.ndjson,.csv,.gz,application/x-ndjson,text/csv' })
	const format = make('select', {}, options([['application/x-ndjson', 'JSON Lines'], ['text/csv', 'CSV with a header row']]))
	const atomic = make('input', { type: 'checkbox', id: unique('atomic') }), merge = make('input', { type: 'checkbox', id: unique('merge') }), place = make('div'), result = make('div', { class: 'result' })
	const send = make('button', { class: 'main' }, 'Import'), attempt = {}
	input.addEventListener('change', () => { format.value = /\.csv(\.gz)?$/i.test(input.files[0]?.name ?? '') ? 'text/csv' : 'application/x-ndjson' })
	const form = make('form', {
		class: 'upload', 'aria-label': 'Import',
		onsubmit: async event => {
			event.preventDefault()
			notice('')
			result.replaceChildren()
			const file = input.files[0], bar = progressBar(`Importing ${file.name}`)
			place.replaceChildren(bar.node)
			bar.cancel.focus()
			send.disabled = true
			try {
				const query = [atomic.checked && 'atomic=true', merge.checked && 'mode=merge'].filter(Boolean).join('&')
				const { value } = await transfer('POST', `/${command.name}${query && '?' + query}`, file, {
					what: `import into ${command.target}`, ...bar, attempt,
					headers: { 'Content-Type': format.value, ...file.name.endsWith('.gz') ? { 'Content-Encoding': 'gzip' } : {} },
				})
				showResult(result, value)
			} catch (error) {
				if (error.name === 'AbortError') notice('The import was canceled. Lines that were stored before remain.', 'good')
				else fail(error)
				if (error.problem?.rejected) showResult(result, error.problem)
			} finally {
				bar.node.remove()
				send.disabled = false
				;(result.querySelector('h2') ?? send).focus()
			}
		},
	}, labelled('File', input), labelled('Format', format),
	make('div', { class: 'field check' }, merge, make('label', { for: merge.id }, 'Change only the members that the file has')),
	command.atomic && make('div', { class: 'field check' }, atomic, make('label', { for: atomic.id }, 'Store all lines or none')),
	make('div', { class: 'buttons' }, send), place)
	return {
		node: make('div', {}, resource && backTo(resource), make('h1', { tabIndex: -1 }, `Import into ${command.target}`),
			make('p', { class: 'faint' }, 'Each line or row is an item. An item with an existing id is replaced, and any other is created. Members that the file does not have are then reset.'), form, result),
	}
}

// showResult shows the counts of an import and the lines that were rejected.
function showResult(place, { created = 0, replaced = 0, rejected = [], rejectedTotal = rejected.length, skipped = 0 }) {
	const text = `${plural(created, 'item')} created, ${replaced.toLocaleString('en')} replaced, ${plural(rejectedTotal, 'line')} rejected${skipped ? `, and ${plural(skipped, 'line')} skipped with them` : ''}.`
	isShown(place) ? report(text) : notice(`Import: ${text}`, 'good')
	place.replaceChildren(make('h2', { tabIndex: -1 }, 'Result'), make('p', { class: 'counts' }, text))
	if (!rejected.length) return
	const rows = rejected.map(({ line, problem, skipped: more }) => make('tr', {}, make('th', { scope: 'row' }, more ? `${line} to ${line + more}` : String(line)),
		make('td', {}, problem.errors?.length ? problem.errors.map(e => make('div', {}, e.detail ?? `${e.pointer}: ${e.code}`)) : problem.detail ?? problem.title)))
	place.append(make('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rejected lines' }, make('table', {}, make('caption', {}, rejected.length < rejectedTotal ? `The first ${rejected.length} rejected lines` : 'Rejected lines'),
		make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Line'), make('th', { scope: 'col' }, 'Reason'))), make('tbody', {}, rows))))
}

