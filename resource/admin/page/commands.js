// Commands: a form of the input, and the output or a link to the job.

// commandsOf returns the commands of an area, such as a resource. Without an area they are those of no resource.
const commandsOf = area => catalog.commands.filter(({ name }) => area ? name.startsWith(area + '/') : !resourceNamed(name.split('/')[0]))

// commandView returns the view of a command.
async function commandView({ name, doc, input, job }) {
	const [area, action] = name.split('/'), result = make('div', { class: 'result' }), title = titleOf(action)
	const fields = input.map(f => /password/i.test(f.name) ? { ...f, writeOnly: true } : f)
	const form = itemForm({ fields, operations: [] }, null, title, async (value, attempt) => {
		result.replaceChildren()
		const { status, headers, value: output } = await call('POST', '/' + name, { what: `call ${name}`, value, attempt })
		if (status === 202 && resourceNamed(job)) {
			return leave(form.node, address('item', job, decodeURIComponent(headers.get('Location').split('/').pop())), `Started ${name}.`)
		}
		const members = Object.entries(output ?? {})
		result.replaceChildren(make('h2', { tabIndex: -1 }, 'Result'), members.length
			? make('dl', { class: 'fixed' }, members.map(([n, v]) => [make('dt', {}, titleOf(n)), make('dd', {}, outputOf(v))])) : make('p', {}, 'Done.'))
		result.firstChild.focus()
		isShown(result) ? report(`${title}: done.`) : notice(`${title}: done.`, 'good')
	})
	return {
		node: make('div', {}, resourceNamed(area) && backTo(resourceNamed(area)), make('h1', { tabIndex: -1 }, title), doc && make('p', { class: 'faint' }, doc), form.node, result),
		dirty: form.dirty, focus: input.length ? form.focus : null,
	}
}

// outputOf returns a value of an output as a node. Unlike those of items, texts and lists are complete.
const outputOf = v => v && ['string', 'object'].includes(typeof v) ? make('span', { class: 'value' }, textOf(v)) : shown({}, v)
