// The configuration of the page, and the credentials of the user.
/** @import { Config } from './types' */

/** @type {HTMLMetaElement | null} */
const meta = document.querySelector('meta[name=config]')

/** @type {Config} */
export const config = JSON.parse(meta?.content ?? '')

// authorization is the value of the Authorization field. Empty means cookies alone. It is kept in this
// tab's memory only.
export let authorization = ''

// keyless reports that the API has refused the key of an anonymous caller, and that the API has no login.
export let keyless = false

// authorize sets the value of the Authorization field.
/** @param {string} value */
export function authorize(value) {
	authorization = value
	keyless = false
}

// omitKeys makes later requests have no key.
export function omitKeys() { keyless = true }

// identify adds the Authorization field.
/**
 * @param {Record<string, string>} headers
 * @returns {Record<string, string>}
 */
export const identify = headers =>
	authorization ? { ...headers, Authorization: authorization } : { ...headers }
