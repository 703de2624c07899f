// Patches: the difference between two items.
import { Exact, bare, isObject } from '../../httpbody/page/jsonvalue.js'
/** @import { Item } from './types' */

// same reports whether two values have the same JSON. The order of members does not matter.
/** @type {(a: any, b: any) => boolean} */
export function same(a, b) {
	if (a === b) return true
	if (a instanceof Exact || b instanceof Exact) return a?.source === b?.source
	if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false
	if (Array.isArray(a) !== Array.isArray(b)) return false
	const names = Object.keys(a)
	return names.length === Object.keys(b).length &&
		names.every(n => Object.hasOwn(b, n) && same(a[n], b[n]))
}

// changes returns the merge patch (RFC 7396) from one object to another: the members that differ. Objects
// inside are compared member by member, arrays as a whole. A member that is absent in the new object is null.
/** @type {(before: Item, after: Item) => Item} */
export function changes(before, after) {
	/** @type {Item} */
	const patch = bare({})
	for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
		const a = before[name], b = after[name]
		if (b === undefined ? a === undefined || a === null : same(a, b)) continue
		patch[name] = b === undefined ? null : isObject(a) && isObject(b) ? changes(a, b) : b
	}
	return patch
}

// patchOf returns the content and the media type of the patch from one item to another, null if nothing
// differs. A merge patch cannot store a null inside a map or remove it, so an item with such a change is
// patched with operations.
/** @type {(before: Item, after: Item) => { value: unknown, type: string } | null} */
export function patchOf(before, after) {
	const value = changes(before, after), names = Object.keys(value)
	if (!names.length) return null
	if (names.some(n => holdsNull(before[n]) || holdsNull(after[n]))) {
		return { value: operations(before, after), type: 'application/json-patch+json' }
	}
	return { value, type: 'application/merge-patch+json' }
}

/** @type {(value: unknown) => boolean} */
const holdsNull = value => isObject(value) && Object.values(value).some(v => v === null || holdsNull(v))

// operations returns the JSON Patch (RFC 6902) from one object to another. It differs from changes in the
// form alone.
/** @type {(before: Item, after: Item, path?: string) => { op: string, path: string, value?: unknown }[]} */
function operations(before, after, path = '') {
	return Object.keys({ ...before, ...after }).flatMap(name => {
		const a = before[name], b = after[name]
		const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
		if (same(a, b)) return []
		if (isObject(a) && isObject(b)) return operations(a, b, at)
		if (b === undefined) return { op: 'remove', path: at }
		return { op: a === undefined ? 'add' : 'replace', path: at, value: b }
	})
}
