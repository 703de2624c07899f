// The documents of the page, and which of them its URL selects.
import { make } from '../../httpbody/page/dom.js'
import { decode } from '../../httpbody/page/jsonvalue.js'
import { entered } from './credentials.js'
import { makeModel } from './model.js'
/** @import { Model, Source } from './types' */

const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name=documents]'))
/** @type {Source[]} */
export const documents = JSON.parse(meta.content)

/** @type {Map<string, Model>} */
const models = new Map() // by URL

// load reads a document. It sends the token that was entered before a document was read, and no
// credentials of a scheme.
/** @param {string} name */
export async function load(name) {
	const of = documents.find(d => d.name === name) ?? documents[0]
	const url = new URL(isFull() && of.full || of.url, location.href).href, known = models.get(url)
	if (known) return known
	const { token } = entered(), Accept = 'application/json, application/openapi+json'
	const headers = { Accept, ...token && { Authorization: `Bearer ${token}` } }
	const response = await fetch(url, { headers }), { ok, status, statusText } = response
	if (!ok) {
		const text = `The document ${of.url} cannot be read: ${status} ${statusText}.`
		throw Object.assign(new Error(text), { status })
	}
	const model = makeModel(decode(await response.text()), url)
	models.set(url, model)
	return model
}

const parameter = (/** @type {string} */ name) => new URLSearchParams(location.search).get(name)

// isFull reports whether the URL selects the documents that describe more.
const isFull = () => parameter('profile') === 'full'

// fullLink returns a link to the documents that describe more, or from them to the others.
export function fullLink() {
	if (!documents.some(d => d.full)) return null
	const url = new URL(location.href), full = isFull()
	if (full) url.searchParams.delete('profile')
	else url.searchParams.set('profile', 'full')
	return make('a', { href: url.href }, full ? 'Show what generated clients use' : 'Show everything')
}

export const versionName = () => (documents.find(d => d.name === parameter('version')) ?? documents[0]).name
