// The request of a form, which is sent and shown as code.
import { credentialsOf } from './credentials.js'
import { flatSchema, isJSON, typesOf } from './model.js'
/** @import { Form, Input, Model, Operation, Parameter, Request, Schema } from './types' */

// inputsOf returns the inputs of a parameter: one, or one for each member of a deepObject.
/**
 * @param {Model} model
 * @param {Parameter} p
 * @returns {Input[]}
 */
export function inputsOf(model, p) {
	if (p.content || p.style !== 'deepObject') {
		return [{ p, name: p.name, label: p.name, schema: p.content ? undefined : p.schema ?? {} }]
	}
	/** @type {(schema: Schema, name: string, label: string) => Input[]} */
	const leaves = (schema, name, label) => Object.entries(flatSchema(model, schema).properties ?? {})
		.flatMap(([key, s]) => {
			const at = `${name}[${key}]`, text = label ? `${label}.${key}` : key
			const deep = flatSchema(model, s).properties
			return deep ? leaves(s, at, text) : [{ p, name: at, label: text, schema: s }]
		})
	return leaves(p.schema ?? {}, p.name, '')
}

// pairsOf returns the name=value pairs of an input in the query. Arrays are entered with commas.
/**
 * @param {Model} model
 * @param {Input} input
 * @param {string} value
 */
function pairsOf(model, { p, name, schema }, value) {
	const list = schema && typesOf(flatSchema(model, schema))[0] === 'array'
	const reserved = (/** @type {string} */ v) =>
		encodeURIComponent(v).replace(/%(2C|5C)/g, c => decodeURIComponent(c))
	const encodedName = encodeURIComponent(name).replace(/%(5B|5D)/g, c => decodeURIComponent(c))
	if (!list) return [`${encodedName}=${encodeURIComponent(value)}`]
	if (p.explode === false || p.style === 'deepObject') return [`${encodedName}=${reserved(value)}`]
	return value.split(',').map(v => `${encodedName}=${encodeURIComponent(v.trim())}`)
}

// requestOf returns the request of a form. Header fields of the credentials are included.
/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Form} form
 * @returns {Request}
 */
export function requestOf(model, op, form) {
	/** @type {string[]} */
	const query = []
	/** @type {[string, string][]} */
	const headers = []
	let path = op.path
	for (const p of op.parameters) {
		for (const input of inputsOf(model, p)) {
			const value = form.values.get(`${p.in} ${input.name}`) ?? ''
			if (p.in === 'path') {
				path = path.replace(`{${p.name}}`, value ? encodeURIComponent(value) : `{${p.name}}`)
			} else if (value === '') continue
			else if (p.in === 'query') query.push(...pairsOf(model, input, value))
			else if (p.in === 'header') headers.push([p.name, value])
		}
	}
	if (form.accept) headers.push(['Accept', form.accept])
	const { media, body, file } = op.body ? form : { media: '' }
	if (media && media !== 'multipart/form-data') {
		headers.push(['Content-Type', media.includes('*') ? file?.type || 'application/octet-stream' : media])
	}
	const credentials = credentialsOf(model, op)
	headers.push(...credentials.headers)
	query.push(...credentials.query)
	const url = form.server + path + (query.length ? '?' + query.join('&') : '')
	return { method: op.method, url, headers, media, body, file }
}

/** @param {string} media */
export const isFile = media =>
	!!media && !isJSON(media) && !/^text\//.test(media) && !/ndjson|x-www-form/.test(media)
