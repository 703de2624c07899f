// Values that a page keeps in the browser, where storage may be missing, full or forbidden.
/** @import { StorageName } from './types' */

// storeFor returns a store for a page at its path. prefix is the name of the page.
/** @param {string} prefix */
export const storeFor = prefix => ({
	/** @param {string} name */
	key: name => `${prefix} ${location.pathname} ${name}`,

	// get returns a value, null if there is none.
	/**
	 * @param {string} name
	 * @param {StorageName} [where]
	 * @returns {any}
	 */
	get(name, where = 'localStorage') {
		try {
			return JSON.parse(window[where].getItem(this.key(name)) ?? 'null')
		} catch {
			return null
		}
	},

	/**
	 * @param {string} name
	 * @param {unknown} value
	 * @param {StorageName} [where]
	 */
	set(name, value, where = 'localStorage') {
		try {
			window[where].setItem(this.key(name), JSON.stringify(value))
		} catch {
			// The page works without it.
		}
	},
})
