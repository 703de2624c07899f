// JSON values in which each number keeps its source text, so that saving a value changes no other
// numbers.

// Exact is a number that JavaScript does not keep, such as 1.10 or 1e400. Integers beyond 2^53 are BigInt.
export class Exact {
	/** @param {string} source */
	constructor(source) { this.source = source }
	toString() { return this.source }
}

/** @type {(value: unknown) => value is Exact | bigint} */
export const isExact = value => value instanceof Exact || typeof value === 'bigint'

// isObject reports whether a value is an object of JSON.
/** @type {(value: unknown) => value is Record<string, any>} */
export const isObject = value =>
	value !== null && typeof value === 'object' && !Array.isArray(value) && !isExact(value)

// exact returns the number of a source text of JSON.
/** @param {string} source */
export function exact(source) {
	if (/^-?[1-9]\d*$/.test(source) && !Number.isSafeInteger(Number(source))) return BigInt(source)
	return String(Number(source)) === source ? Number(source) : new Exact(source)
}

// A browser without JSON.rawJSON has no access to the source text. There, numbers pass through JSON.parse
// and JSON.stringify as texts that begin with marker, which no text of the API can guess.
const marker = `number-${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`
const marked = new RegExp(`"${marker}([^"]*)"`, 'g')
const JSON_NUMBER = /"(?:[^"\\]+|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g // or a string

// bare removes the prototype of an object: members such as constructor and __proto__ are then like others.
/** @type {<T>(value: T) => T} */
export const bare = value => isObject(value) ? Object.setPrototypeOf(value, null) : value

// decode parses JSON.
/**
 * @param {string} text
 * @returns {any}
 */
export function decode(text) {
	if (JSON.rawJSON) {
		return JSON.parse(text, (_, value, at) => typeof value === 'number' ? exact(at.source) : bare(value))
	}
	const mark = (/** @type {string} */ token) =>
		token[0] === '"' || !isExact(exact(token)) ? token : `"${marker}${token}"`
	const unmark = (/** @type {string} */ _, /** @type {any} */ value) => {
		const isMarked = typeof value === 'string' && value.startsWith(marker)
		return isMarked ? exact(value.slice(marker.length)) : bare(value)
	}
	return JSON.parse(text.replace(JSON_NUMBER, mark), unmark)
}

// encode returns JSON, undefined if the value is.
/**
 * @param {any} value
 * @param {string} [indent]
 */
export function encode(value, indent) {
	const raw = (/** @type {string} */ _, /** @type {any} */ v) =>
		isExact(v) ? JSON.rawJSON?.(String(v)) ?? marker + v : v
	return JSON.stringify(value, raw, indent)?.replace(marked, '$1')
}
