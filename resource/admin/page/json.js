// JSON in which each number keeps its source text, so that saving an item changes no other numbers.

// Exact is a number that JavaScript does not keep, such as 1.10 or 1e400. Integers beyond 2^53 are BigInt.
class Exact {
	constructor(source) { this.source = source }
	toString() { return this.source }
}

const isExact = value => value instanceof Exact || typeof value === 'bigint'

// exact returns the number of a source text of JSON.
function exact(source) {
	if (/^-?[1-9]\d*$/.test(source) && !Number.isSafeInteger(Number(source))) return BigInt(source)
	return String(Number(source)) === source ? Number(source) : new Exact(source)
}

// A browser without JSON.rawJSON has no access to the source text. There, numbers pass through JSON.parse and
// JSON.stringify as texts that begin with marker, which no text of the API can guess.
const marker = `number-${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`
const isMarked = value => typeof value === 'string' && value.startsWith(marker)
const marked = new RegExp(`"${marker}([^"]*)"`, 'g')

// bare removes the prototype of an object: members such as constructor and __proto__ are then like others.
const bare = value => isObject(value) ? Object.setPrototypeOf(value, null) : value

// decode parses JSON.
const decode = text => JSON.rawJSON
	? JSON.parse(text, (key, value, at) => typeof value === 'number' ? exact(at.source) : bare(value))
	: JSON.parse(text.replace(/"(?:[^"\\]+|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g,
		token => token[0] === '"' || !isExact(exact(token)) ? token : `"${marker}${token}"`),
	(key, value) => isMarked(value) ? exact(value.slice(marker.length)) : bare(value))

// encode returns JSON, undefined if the value is.
const encode = (value, indent) => JSON.stringify(value, (key, value) => !isExact(value) ? value
	: JSON.rawJSON?.(String(value)) ?? marker + value, indent)?.replace(marked, '$1')

// same reports whether two values have the same JSON. The order of members does not matter.
function same(a, b) {
	if (a === b) return true
	if (a instanceof Exact || b instanceof Exact) return a?.source === b?.source
	if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false
	const names = Object.keys(a)
	return names.length === Object.keys(b).length && names.every(n => Object.hasOwn(b, n) && same(a[n], b[n]))
}

// changes returns the merge patch (RFC 7396) from one object to another: the members that differ. Objects inside are
// compared member by member, arrays as a whole. A member that is absent in the new object is null.
function changes(before, after) {
	const patch = bare({})
	for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
		const a = before[name], b = after[name]
		if (b === undefined ? a === undefined || a === null : same(a, b)) continue
		patch[name] = b === undefined ? null : isObject(a) && isObject(b) ? changes(a, b) : b
	}
	return patch
}

// patchOf returns the content and the media type of the patch from one item to another, null if nothing differs. A merge
// patch cannot store a null inside a map or remove it, so an item with such a change is patched with operations.
function patchOf(before, after) {
	const value = changes(before, after), names = Object.keys(value)
	if (!names.length) return null
	if (names.some(n => holdsNull(before[n]) || holdsNull(after[n]))) return { value: operations(before, after), type: 'application/json-patch+json' }
	return { value, type: 'application/merge-patch+json' }
}

const holdsNull = value => isObject(value) && Object.values(value).some(v => v === null || holdsNull(v))

// operations returns the JSON Patch (RFC 6902) from one object to another. It differs from changes in the form alone.
function operations(before, after, path = '') {
	return Object.keys({ ...before, ...after }).flatMap(name => {
		const a = before[name], b = after[name], at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
		if (same(a, b)) return []
		if (isObject(a) && isObject(b)) return operations(a, b, at)
		return b === undefined ? { op: 'remove', path: at } : { op: a === undefined ? 'add' : 'replace', path: at, value: b }
	})
}

const isObject = value =>
	value !== null && typeof value === 'object' && !Array.isArray(value) && !isExact(value)

