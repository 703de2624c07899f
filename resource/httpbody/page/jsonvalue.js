// JSON in which each number keeps its source text, so that saving an item changes no other numbers.

// Exact is a number that JavaScript does not keep, such as 1.10 or 1e400. Integers beyond 2^53 are
// BigInt.
export class Exact {
	/** @param {string} source */
	constructor(source) { this.source = source }
	toString() { return this.source }
}

/** @param {unknown} value */
export const isExact = value => value instanceof Exact || typeof value === 'bigint'

// exact returns the number of a source text of JSON.
/** @param {string} source */
export function exact(source) {
	if (/^-?[1-9]\d*$/.test(source) && !Number.isSafeInteger(Number(source))) return BigInt(source)
	return String(Number(source)) === source ? Number(source) : new Exact(source)
}

// A browser without JSON.rawJSON has no access to the source text. There, numbers pass through
// JSON.parse and JSON.stringify as texts that begin with marker, which no text of the API can
// guess.
const marker = `number-${crypto.getRandomValues(new Uint32Array(4)).join('-')}:`
const marked = new RegExp(`"${marker}([^"]*)"`, 'g')
const numbers = /"(?:[^"\\]+|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g

// decode parses JSON.
/**
 * @param {string} text
 * @returns {any}
 */
export function decode(text) {
	if (JSON.rawJSON) {
		return JSON.parse(text, (_, value, at) => typeof value === 'number' ? exact(at.source) : value)
	}
	const mark = (/** @type {string} */ token) =>
		token[0] === '"' || !isExact(exact(token)) ? token : `"${marker}${token}"`
	return JSON.parse(text.replace(numbers, mark), (_, value) =>
		typeof value === 'string' && value.startsWith(marker) ? exact(value.slice(marker.length)) : value)
}

// encode returns JSON, undefined if the value is.
/**
 * @param {unknown} value
 * @param {number} [indent]
 */
export function encode(value, indent) {
	const raw = (/** @type {string} */ _, /** @type {unknown} */ v) =>
		!isExact(v) ? v : JSON.rawJSON?.(String(v)) ?? marker + v
	return JSON.stringify(value, raw, indent)?.replace(marked, '$1')
}
