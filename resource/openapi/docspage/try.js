// The right column: the form of a request and its code.
import { make } from '../../httpbody/page/dom.js'
import { sendRequest } from './answer.js'
import { firstSentence } from './markdown.js'
import {
	exampleOf, filtersOf, flatSchema, isJSON, mediaTypes, sampleOf, typesOf, valueText,
} from './model.js'
import { copyButton, count, messageOf, tabs } from './parts.js'
import { inputsOf, isFile, requestOf } from './request.js'
import { SAMPLES } from './samples.js'
/** @import { Children } from '../../httpbody/page/types' */
/** @import { Form, Input, Model, Operation, Parameter } from './types' */

/** @type {Map<string, Form>} */
const forms = new Map() // of operations, by document and id

// formOf returns the form of an operation, with examples as first values.
/**
 * @param {Model} model
 * @param {Operation} op
 */
function formOf(model, op) {
	const key = `${model.base} ${op.id}`, known = forms.get(key)
	if (known) return known
	const local = model.servers.find(s => new URL(s.url).origin === location.origin) ?? model.servers[0]
	const good = op.responses.filter(r => /^2/.test(r.status))
	const accepts = [...new Set(good.flatMap(r => mediaTypes(r.content)))]
	/** @type {Form} */
	const form = {
		values: new Map(), server: local.url, media: mediaTypes(op.body?.content)[0] ?? '',
		accept: accepts.find(isJSON) ?? '', accepts, body: '',
		answer: make('section', { id: 'answer', 'aria-label': 'Response' }),
		button: make('button', {
			type: 'button', class: 'main', id: 'send', 'aria-keyshortcuts': 'Control+Enter',
			onclick: () => sendRequest(requestOf(model, op, form), form),
		}, 'Send'),
	}
	for (const p of op.parameters) {
		if (p.in !== 'path' && !p.required) continue
		const value = exampleOf(model, p) ?? sampleOf(model, p.schema ?? {}, false)
		form.values.set(`${p.in} ${p.name}`, valueText(value))
	}
	fillBody(model, op, form)
	forms.set(key, form)
	return form
}

/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Form} form
 */
function fillBody(model, op, form) {
	const content = op.body?.content?.[form.media], schema = isJSON(form.media) ? content?.schema : undefined
	const value = exampleOf(model, content) ?? (schema ? sampleOf(model, schema, false) : '')
	form.body = valueText(value, '  ')
}

// endStreams ends the streams of all forms but that of the operation that is shown.
/**
 * @param {Model} model
 * @param {Operation | null} op
 */
export function endStreams(model, op) {
	const current = op && formOf(model, op)
	for (const form of forms.values()) if (form.streams && form !== current) form.sending?.abort()
}

/**
 * @param {Model} model
 * @param {Input} input
 * @param {Form} form
 * @param {() => void} changed
 */
function inputRow(model, { p, name, label, schema }, form, changed) {
	const key = `${p.in} ${name}`, id = `in-${key.replace(/[^\w]/g, '-')}`, value = form.values.get(key) ?? ''
	const s = flatSchema(model, schema ?? {}), [type] = typesOf(s)
	const set = (/** @type {string} */ v) => {
		form.values.set(key, v)
		changed()
	}
	const values = type === 'array' ? null : s.enum ?? (type === 'boolean' ? [true, false] : null)
	const hint = type === 'array' ? 'a,b' : s.example ?? s.examples?.[0] ?? s.default ?? ''
	const control = values
		? make('select', { id, onchange: e => set(e.currentTarget.value) }, make('option', { value: '' }, ''),
			values.map(v => valueText(v)).map(v => make('option', { value: v, selected: v === value }, v)))
		: make('input', {
			id, value, autocomplete: 'off', spellcheck: false, placeholder: valueText(hint),
			oninput: e => set(e.currentTarget.value),
		})
	const fillKey = () => {
		control.value = `"${crypto.randomUUID?.() ?? Date.now()}"`
		set(control.value)
	}
	return make('div', { class: 'input' },
		make('label', { for: id, title: firstSentence(p.description) }, label,
			p.required && make('span', { class: 'required', title: 'required' }, ' *')), control,
		isKey(name) && make('button', { type: 'button', onclick: fillKey }, 'New key'))
}

const isKey = (/** @type {string} */ name) => /^idempotency-key$/i.test(name)

/**
 * @param {string} label
 * @param {string[]} values
 * @param {string} value
 * @param {(value: string) => void} set
 */
const choice = (label, values, value, set) => make('label', { class: 'input' }, make('span', {}, label),
	make('select', { onchange: e => set(e.currentTarget.value) },
		values.map(v => make('option', { value: v, selected: v === value }, v))))

/**
 * @param {Model} model
 * @param {Operation} op
 * @returns {Children[]}
 */
export function panelView(model, op) {
	const form = formOf(model, op), request = () => requestOf(model, op, form)
	const code = tabs('Code', 'code', Object.keys(SAMPLES), name => {
		const text = SAMPLES[/** @type {keyof SAMPLES} */ (name)](model, op, request())
		return make('div', { class: 'code' }, copyButton(() => text, 'code'), make('pre', {
			tabIndex: 0, role: 'region', 'aria-label': `${name} code`, class: 'sample',
		}, text))
	})
	const address = make('code', { class: 'address' }, request().url), note = make('p', { class: 'faint' })
	const changed = () => {
		code.update()
		address.textContent = request().url
	}
	const serverChanged = () => {
		const foreign = new URL(form.server).origin !== location.origin
		form.button.disabled = foreign
		note.textContent = foreign
			? 'The page may send requests to its own origin only. Use the code for this server.' : ''
	}
	serverChanged()
	return [
		make('h2', {}, 'Request'),
		model.servers.length > 1 && choice('Server', model.servers.map(s => s.url), form.server, v => {
			form.server = v
			serverChanged()
			changed()
		}),
		parameterInputs(model, op, form, changed),
		form.accepts.length > 1 && choice('Accept', form.accepts, form.accept, v => {
			form.accept = v
			changed()
		}),
		bodyInput(model, op, form, changed),
		make('p', { class: 'send' }, form.button, address), note, form.answer,
		make('h2', { class: 'samples' }, 'Code'), code.list, code.panel,
	]
}

// parameterInputs returns the inputs of the parameters: those that are usually needed, the other fields,
// and the filters.
/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Form} form
 * @param {() => void} changed
 */
function parameterInputs(model, op, form, changed) {
	const rows = (/** @type {Parameter[]} */ list) =>
		list.flatMap(p => inputsOf(model, p).map(input => inputRow(model, input, form, changed)))
	/** @type {(title: string, list: Parameter[], open: boolean) => Children} */
	const group = (title, list, open) => list.length > 0 &&
		make('details', { open }, make('summary', {}, title, count(list.length)), rows(list))
	const { fields, rest } = filtersOf(op.parameters.filter(p => p.in !== 'cookie'))
	const needed = rest.filter(p => p.required || p.in === 'path' || isKey(p.name))
	const deep = rest.filter(p => p.style === 'deepObject')
	const optional = rest.filter(p => !needed.includes(p) && !deep.includes(p))
	return [
		rows(needed), group('Query and header fields', optional, optional.length < 4 && op.method === 'GET'),
		group('Filters', [...fields.values()].flat().map(x => x.p).concat(deep), false),
	]
}

/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Form} form
 * @param {() => void} changed
 */
function bodyInput(model, op, form, changed) {
	if (!op.body) return null
	const types = mediaTypes(op.body.content), holder = make('div')
	const draw = () => {
		const input = isFile(form.media) ? fileInput(form, changed) : textInput(form, changed)
		holder.replaceChildren(...input)
	}
	draw()
	return make('div', { class: 'body' }, types.length > 1
		? choice('Content-Type', types, form.media, v => {
			form.media = v
			fillBody(model, op, form)
			draw()
			changed()
		})
		: make('p', { class: 'types' }, make('code', {}, form.media)), holder)
}

// fileInput returns the input of a file. It shows the file that the form sends.
/**
 * @param {Form} form
 * @param {() => void} changed
 */
function fileInput(form, changed) {
	const input = make('input', {
		type: 'file', onchange: () => {
			form.file = input.files?.[0]
			changed()
		},
	})
	const list = new DataTransfer()
	if (form.file) list.items.add(form.file)
	input.files = list.files
	return [make('label', { class: 'input' }, make('span', {}, 'File'), input)]
}

/**
 * @param {Form} form
 * @param {() => void} changed
 */
function textInput(form, changed) {
	const wrong = make('p', { class: 'wrong' })
	const check = () => {
		wrong.textContent = ''
		if (!isJSON(form.media) || !form.body.trim()) return
		try {
			JSON.parse(form.body)
		} catch (e) {
			wrong.textContent = messageOf(e)
		}
	}
	const area = make('textarea', {
		'aria-label': 'Request body', spellcheck: false, value: form.body,
		rows: Math.min(16, Math.max(4, form.body.split('\n').length + 1)), oninput: e => {
			form.body = e.currentTarget.value
			check()
			changed()
		},
	})
	return [area, wrong]
}
