// Credentials, which are kept in the tab only, and their dialog.
import { $, make } from '../../httpbody/page/dom.js'
import { markdown } from './markdown.js'
import { kept } from './parts.js'
/** @import { Model, Operation, Schemes, SecurityScheme } from './types' */

// entered returns the credentials, by the name of their scheme.
/** @returns {Record<string, string>} */
export const entered = () => kept.get('credentials', 'sessionStorage') ?? {}

// schemesOf returns the authentication schemes of the document, or a bearer token if it has none. field
// is the header field or the parameter of an API key.
/**
 * @param {Schemes | null} model
 * @returns {(SecurityScheme & { field: string })[]}
 */
function schemesOf(model) {
	const all = Object.entries(model?.schemes ?? {})
	if (model && all.length) {
		return all.map(([name, given]) => {
			const s = model.resolve(given)
			return { ...s, name, field: s.name }
		})
	}
	return [{
		name: 'token', field: '', type: 'http', scheme: 'bearer',
		description: 'The document lists no authentication. The value is sent as a bearer token.',
	}]
}

const isBasic = (/** @type {SecurityScheme} */ s) => s.scheme?.toLowerCase() === 'basic'

// credentialsOf returns the header fields and query parameters of the credentials for an operation.
/**
 * @param {Model} model
 * @param {Operation} op
 */
export function credentialsOf(model, op) {
	/** @type {[string, string][]} */
	const headers = []
	/** @type {string[]} */
	const query = []
	const values = entered(), listed = new Set(op.security.flatMap(r => Object.keys(r)))
	const limited = Object.keys(model.schemes).length > 0 && listed.size > 0
	for (const s of schemesOf(model)) {
		const { field } = s, bearer = /^bearer$/i.test(s.scheme ?? '')
		const own = Object.hasOwn(values, s.name) && values[s.name]
		const value = own || (s.type === 'oauth2' || bearer) && values.token
		if (!value || limited && !listed.has(s.name)) continue
		if (s.type === 'apiKey') {
			if (s.in === 'header') headers.push([field, value])
			else if (s.in === 'query') query.push(`${encodeURIComponent(field)}=${encodeURIComponent(value)}`)
		} else if (isBasic(s)) {
			const bytes = new TextEncoder().encode(value)
			headers.push(['Authorization', 'Basic ' + btoa(String.fromCharCode(...bytes))])
		} else headers.push(['Authorization', `${bearer || !s.scheme ? 'Bearer' : s.scheme} ${value}`])
	}
	return { headers, query }
}

// openLogin shows the dialog of credentials.
/** @param {Schemes | null} model is null if no document was read */
export function openLogin(model) {
	const values = entered()
	$('schemes').replaceChildren(...schemesOf(model).map(s => {
		const id = `credential-${s.name}`, value = Object.hasOwn(values, s.name) ? values[s.name] : ''
		const cookie = s.in === 'cookie'
		return make('div', { class: 'scheme' }, make('label', { for: id }, s.name),
			make('input', { id, type: 'password', autocomplete: 'off', value, disabled: cookie }),
			make('p', { class: 'faint' }, usageOf(s), ' '), markdown(s.description))
	}))
	loginDialog().showModal()
}

/** @param {SecurityScheme & { field: string }} s */
function usageOf(s) {
	if (s.type === 'apiKey') return s.in === 'cookie' ? 'The browser sends the cookie.' : `${s.in} ${s.field}`
	if (isBasic(s)) return 'As user:password.'
	return s.type === 'http' ? `Authorization: ${s.scheme}` : 'An access token, sent as a bearer token.'
}

const loginDialog = () => /** @type {HTMLDialogElement} */ ($('login'))
const loginInputs = () => [...$('schemes').querySelectorAll('input')]

// onLogin calls changed after credentials were saved or removed in the dialog.
/** @param {(saved: boolean) => void} changed */
export function onLogin(changed) {
	loginDialog().addEventListener('close', () => {
		if (loginDialog().returnValue !== 'save') return
		const values = Object.fromEntries(loginInputs().map(i => [i.id.replace('credential-', ''), i.value]))
		kept.set('credentials', { ...entered(), ...values }, 'sessionStorage')
		changed(true)
	})
	$('forget').addEventListener('click', () => {
		kept.set('credentials', {}, 'sessionStorage')
		for (const i of loginInputs()) i.value = ''
		changed(false)
	})
}
