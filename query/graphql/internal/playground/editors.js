// The three editors of the page, which app.js makes, and the header fields in one of them.
import { parsed } from '../../../../resource/httpbody/page/jsontext.js'
/** @import { Editor } from './editor.js' */

/** @type {Record<string, Editor>} */
export const editors = {}

// headers returns the header fields, or undefined if they are not a JSON object.
/** @returns {Record<string, string> | undefined} */
export function headers() {
	const { text } = editors.headers
	if (!text.trim()) return {}
	const value = parsed(text)
	if (!value || typeof value !== 'object' || Array.isArray(value)) return undefined
	return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, String(v)]))
}
