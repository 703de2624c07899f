// The right column: the form of a request, its code, and the response. Credentials are kept in the tab only.

// schemesOf returns the authentication schemes of the document, or a bearer token if it has none.
const schemesOf = model => Object.keys(model.schemes).length ? Object.entries(model.schemes).map(([name, s]) => ({ name, ...model.resolve(s) })) : [{ name: 'token', type: 'http', scheme: 'bearer', description: 'The document lists no authentication. The value is sent as a bearer token.' }]

// credentialsOf returns the header fields and query parameters of the credentials that were entered.
function credentialsOf(model, op) {
	const entered = kept.get('credentials', 'sessionStorage') ?? {}, headers = [], query = []
	const listed = Object.keys(model.schemes).length ? new Set((op?.security ?? []).flatMap(r => Object.keys(r))) : null
	for (const s of schemesOf(model)) {
		const value = Object.hasOwn(entered, s.name) && entered[s.name] || (s.type === 'oauth2' || /^bearer$/i.test(s.scheme ?? '')) && entered.token
		if (!value || listed?.size && !listed.has(s.name)) continue
		if (s.type === 'apiKey') {
			if (s.in === 'header') headers.push([s.name in model.schemes ? model.schemes[s.name].name : 'X-API-Key', value])
			else if (s.in === 'query') query.push(`${encodeURIComponent(model.schemes[s.name].name)}=${encodeURIComponent(value)}`)
		} else if (s.scheme?.toLowerCase() === 'basic') headers.push(['Authorization', 'Basic ' + btoa(String.fromCharCode(...new TextEncoder().encode(value)))])
		else headers.push(['Authorization', `${/^bearer$/i.test(s.scheme ?? 'bearer') ? 'Bearer' : s.scheme} ${value}`])
	}
	return { headers, query }
}

// openLogin shows the dialog of credentials.
function openLogin(model) {
	const entered = kept.get('credentials', 'sessionStorage') ?? {}
	$('schemes').replaceChildren(...schemesOf(model).map(s => {
		const id = `credential-${s.name}`, basic = s.scheme?.toLowerCase() === 'basic'
		const about = s.type === 'apiKey' && s.in === 'cookie' ? 'The browser sends the cookie.' : basic ? 'As user:password.' : s.type === 'http' ? `Authorization: ${s.scheme}` : s.type === 'apiKey' ? `${s.in} ${model.schemes[s.name].name}` : 'An access token, sent as a bearer token.'
		return make('div', { class: 'scheme' }, make('label', { htmlFor: id }, s.name), make('input', { id, type: 'password', autocomplete: 'off', value: Object.hasOwn(entered, s.name) ? entered[s.name] : '', disabled: s.in === 'cookie' }), make('p', { class: 'faint' }, about, ' '), markdown(s.description))
	}))
	$('login').showModal()
}

const forms = new Map() // of operations, by document and id

// formOf returns the form of an operation, with examples as first values.
function formOf(model, op) {
	const key = `${model.base} ${op.id}`
	if (forms.has(key)) return forms.get(key)
	const local = model.servers.find(s => new URL(s.url).origin === location.origin) ?? model.servers[0]
	const accepts = [...new Set(op.responses.filter(r => /^2/.test(r.status)).flatMap(r => mediaTypes(r.content)))]
	const form = { values: new Map(), server: local.url, media: mediaTypes(op.body?.content)[0] ?? '', accept: accepts.find(isJSON) ?? '', accepts, body: '', file: undefined }
	for (const p of op.parameters) {
		if (p.in !== 'path' && !p.required) continue
		const value = exampleOf(model, p) ?? sampleOf(model, p.schema ?? {}, false)
		form.values.set(`${p.in} ${p.name}`, String(typeof value === 'object' ? JSON.stringify(value) : value ?? ''))
	}
	fillBody(model, op, form)
	forms.set(key, form)
	return form
}

// fillBody sets the body to the example of its media type.
function fillBody(model, op, form) {
	const content = op.body?.content?.[form.media]
	const value = exampleOf(model, content) ?? (content?.schema && isJSON(form.media) ? sampleOf(model, content.schema, false) : '')
	form.body = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

// inputRow returns a labelled input for a parameter.
function inputRow(model, input, form, changed) {
	const { p, name, label, schema } = input, key = `${p.in} ${name}`, s = flatSchema(model, schema ?? {}), id = `in-${key.replace(/[^\w]/g, '-')}`
	const value = form.values.get(key) ?? '', set = v => { form.values.set(key, v); changed() }, [type] = typesOf(s)
	const values = s.enum ?? (type === 'boolean' ? [true, false] : null)
	const hint = type === 'array' ? 'a,b' : s.example ?? s.examples?.[0] ?? s.default ?? ''
	const control = values && type !== 'array'
		? make('select', { id, onchange: e => set(e.target.value) }, make('option', { value: '' }, ''), values.map(v => make('option', { value: String(v), selected: String(v) === value }, String(v))))
		: make('input', { id, value, autocomplete: 'off', spellcheck: false, placeholder: hint === '' ? '' : String(hint), oninput: e => set(e.target.value) })
	const makesKey = /^idempotency-key$/i.test(name)
	return make('div', { class: 'input' }, make('label', { htmlFor: id, title: firstSentence(p.description) }, label, p.required && make('span', { class: 'required', title: 'required' }, ' *')), control,
		makesKey && make('button', { type: 'button', onclick: () => { control.value = `"${crypto.randomUUID?.() ?? Date.now()}"`; set(control.value) } }, 'New key'))
}

// select returns a labelled select of texts.
const choice = (label, values, value, set) => make('label', { class: 'input' }, make('span', {}, label), make('select', { onchange: e => set(e.target.value) }, values.map(v => make('option', { value: v, selected: v === value }, v))))

// panelView fills the right column for an operation.
function panelView(model, op) {
	const form = formOf(model, op), code = tabs('Code', 'code', Object.keys(SAMPLES), name => {
		const text = SAMPLES[name](model, op, requestOf(model, op, form))
		return make('div', { class: 'code' }, copyButton(() => text, 'code'), make('pre', { tabIndex: 0, role: 'region', 'aria-label': `${name} code`, class: 'sample' }, text))
	})
	const changed = () => { code.update(); address.textContent = requestOf(model, op, form).url }
	const address = make('code', { class: 'address' })
	const answer = form.answer ??= make('section', { id: 'answer', 'aria-label': 'Response' })
	const { fields, rest } = filtersOf(op.parameters.filter(p => p.in !== 'cookie'))
	const rows = list => list.flatMap(p => inputsOf(model, p).map(input => inputRow(model, input, form, changed)))
	const group = (title, list, open) => list.length > 0 && make('details', { open }, make('summary', {}, title, make('span', { class: 'count' }, String(list.length))), rows(list))
	const needed = rest.filter(p => p.required || p.in === 'path' || /^idempotency-key$/i.test(p.name)), deep = rest.filter(p => p.style === 'deepObject'), optional = rest.filter(p => !needed.includes(p) && !deep.includes(p))
	const foreign = () => new URL(form.server).origin !== location.origin
	const send = make('button', {
		type: 'button', class: 'main', id: 'send', 'aria-keyshortcuts': 'Control+Enter',
		onclick: () => sendRequest(model, op, form, answer),
	}, form.sending ? 'Stop' : 'Send')
	form.button = send
	const note = make('p', { class: 'faint' })
	const serverChanged = () => {
		send.disabled = foreign()
		note.textContent = foreign() ? 'The page may send requests to its own origin only. Use the code for this server.' : ''
	}
	serverChanged()
	const view = [
		make('h2', {}, 'Request'),
		model.servers.length > 1 && choice('Server', model.servers.map(s => s.url), form.server, v => { form.server = v; serverChanged(); changed() }),
		rows(needed), group('Query and header fields', optional, optional.length < 4 && op.method === 'GET'),
		group('Filters', [...fields.values()].flat().map(x => x.p).concat(deep), false),
		form.accepts.length > 1 && choice('Accept', form.accepts, form.accept, v => { form.accept = v; changed() }),
		bodyInput(model, op, form, changed),
		make('p', { class: 'send' }, send, address), note, answer,
		make('h2', { class: 'samples' }, 'Code'), code.list, code.panel,
	]
	address.textContent = requestOf(model, op, form).url
	return view
}

// bodyInput returns the input of a request body: a text, or a file.
function bodyInput(model, op, form, changed) {
	if (!op.body) return null
	const types = mediaTypes(op.body.content), holder = make('div', {})
	const draw = () => {
		if (isFile({ media: form.media })) {
			const chosen = e => { form.file = e.target.files[0]; changed() }
			const input = make('input', { type: 'file', onchange: chosen }), list = new DataTransfer()
			if (form.file) list.items.add(form.file)
			input.files = list.files // a new input shows the file that the form sends
			holder.replaceChildren(make('label', { class: 'input' }, make('span', {}, 'File'), input))
			return
		}
		const area = make('textarea', { 'aria-label': 'Request body', spellcheck: false, rows: Math.min(16, Math.max(4, form.body.split('\n').length + 1)), value: form.body, oninput: e => { form.body = e.target.value; check(); changed() } })
		const wrong = make('p', { class: 'wrong' })
		const check = () => {
			wrong.textContent = ''
			if (isJSON(form.media) && form.body.trim()) try { JSON.parse(form.body) } catch (e) { wrong.textContent = e.message }
		}
		holder.replaceChildren(area, wrong)
	}
	draw()
	return make('div', { class: 'body' }, types.length > 1 ? choice('Content-Type', types, form.media, v => { form.media = v; fillBody(model, op, form); draw(); changed() }) : make('p', { class: 'types' }, make('code', {}, form.media)), holder)
}

const sized = n => n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`

// sendRequest sends the request of a form, or stops the one that the form has sent, and shows the response. The
// form may be shown again, with another button, before the response arrives.
async function sendRequest(model, op, form, answer) {
	if (form.sending) return form.sending.abort()
	const request = requestOf(model, op, form), mine = form.sending = new AbortController()
	const began = performance.now()
	form.button.textContent = 'Stop'
	answer.replaceChildren(make('p', { class: 'faint' }, 'Waiting …'))
	try {
		let body = request.media ? request.body : undefined
		if (request.media === 'multipart/form-data') {
			body = new FormData()
			if (request.file) body.append('file', request.file)
		} else if (isFile(request)) body = request.file ?? ''
		const response = await fetch(request.url, { method: request.method, headers: request.headers, body, signal: mine.signal })
		await showAnswer(response, answer, began, form)
	} catch (e) {
		const text = mine.signal.aborted ? 'Stopped.' : `No response: ${e.message}`
		if (mine.signal.aborted && answer.querySelector('pre')) answer.append(make('p', { class: 'faint' }, text))
		else answer.replaceChildren(make('p', { class: 'wrong' }, text))
		report(text)
	}
	form.sending = null
	form.streams = false
	form.button.textContent = 'Send'
}

// showAnswer shows a response. A stream is shown while it arrives.
async function showAnswer(response, answer, began, form) {
	const type = response.headers.get('Content-Type') ?? '', line = make('p', { class: response.ok || response.status === 304 ? 'good' : 'bad' }, make('b', {}, `${response.status} ${response.statusText}`)), text = make('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Response body' })
	const fields = make('details', {}, make('summary', {}, 'Header fields', make('span', { class: 'count' }, String([...response.headers].length))), make('dl', { class: 'fields' }, [...response.headers].flatMap(([k, v]) => [make('dt', {}, k), make('dd', {}, v)])))
	answer.replaceChildren(line, text, fields)
	report(`Response: ${response.status} ${response.statusText}`)
	if (/event-stream|ndjson/.test(type)) {
		form.streams = true
		if (!answer.isConnected) form.sending.abort()
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
		for (let step; !(step = await reader.read()).done;) {
			text.append(step.value)
			text.scrollTop = text.scrollHeight
		}
		return
	}
	const bytes = await response.arrayBuffer()
	line.append(make('span', { class: 'faint' }, ` ${Math.round(performance.now() - began)} ms, ${sized(bytes.byteLength)}`))
	if (!bytes.byteLength) { text.remove(); return }
	if (type && !isJSON(type) && !/^text\/|xml|yaml|graphql/.test(type)) {
		const address = URL.createObjectURL(new Blob([bytes], { type }))
		text.replaceWith(make('p', {}, make('a', { href: address, download: response.url.split('/').at(-1) || 'file' }, `Save the content (${type})`)))
		return
	}
	const body = new TextDecoder().decode(bytes)
	if (isJSON(type) && body.length < 2e5) text.append(...coloured(pretty(body)))
	else text.append(body.slice(0, 5e5))
	if (body.length > 5e5) {
		const href = URL.createObjectURL(new Blob([bytes], { type }))
		const save = make('a', { href, download: response.url.split('/').at(-1) || 'body' }, 'Save all')
		const notice = `The first 500,000 of ${body.length} characters are shown. `
		text.before(make('p', { class: 'wrong' }, notice, save))
	}
}
