// Requests to the REST API, under the rights of the user.
import { $ } from '../../httpbody/page/dom.js'
import { decode, encode } from '../../httpbody/page/jsonvalue.js'
import { catalog, pathOf } from './catalog.js'
import { notice } from './notice.js'
import { sleep } from './parts.js'
import { config, identify, keyless, omitKeys } from './session.js'
/** @import { Answer, Attempt, CallOptions, Failure, Problem, Read } from './types' */

// accepted are the media types of responses that call and transfer read.
export const accepted = 'application/json, application/problem+json'

// Refusal is the error of a response that is not successful.
export class Refusal extends Error {
	/**
	 * @param {number} status
	 * @param {Problem | null} problem
	 * @param {string} what
	 */
	constructor(status, problem, what) {
		super(explain(status, problem, what))
		this.status = status
		this.problem = problem
	}
}

// explain returns a sentence about a response. what is the operation, such as "delete this item".
/** @type {(status: number, problem: Problem | null, what: string) => string} */
function explain(status, problem, what) {
	const detail = problem?.detail ?? problem?.title ?? `The server responded with status ${status}.`
	switch (status) {
	case 0: return `The server redirected the request to ${what}, so it was not carried out.`
	case 200: return `The response to the request to ${what} is not JSON, so it is not from the API.`
	case 401: return `Sign in to ${what}. ${detail}`
	case 403: return `You are not allowed to ${what}. ${detail}`
	case 405: return `The API does not offer to ${what}. ${detail}`
	case 404: case 410: return `The item does not exist, or you may not see it. ${detail}`
	}
	return detail
}

// newKey returns the value of an Idempotency-Key: a random text as a string of RFC 9651.
function newKey() {
	const random = crypto.getRandomValues(new Uint8Array(16))
	return `"${Array.from(random, b => b.toString(16).padStart(2, '0')).join('')}"`
}

// keyFor returns the key of a write, which a text identifies. attempt is an object that a form keeps:
// while the outcome of its last write is unknown, the same write has the same key. settle ends that when
// a final response has arrived.
/**
 * @param {Attempt} attempt
 * @param {string} write
 */
export function keyFor(attempt, write) {
	if (attempt.write !== write) Object.assign(attempt, { write, key: newKey() })
	return attempt.key ?? ''
}

/** @type {(attempt: Attempt, status: number, retryAfter: string | null) => void} */
export function settle(attempt, status, retryAfter) {
	if (status < 500 && retryAfter === null) attempt.write = null
}

// refusesKey reports whether a response refuses the key of an anonymous caller. If the API has a login,
// the user is asked to sign in. Otherwise this request and later ones are sent without a key.
/** @type {(status: number, problem: Problem | null, what: string) => boolean} */
export function refusesKey(status, problem, what) {
	if (status !== 400 || !problem?.errors?.some(e => e.code === 'anonymous')) return false
	if (config.login) throw new Refusal(401, problem, what)
	omitKeys()
	return true
}

// lost returns the error of a request without a response. It can be repeated if it is safe.
/** @type {(what: string, safe: boolean | undefined) => Error} */
export const lost = (what, safe) => new Error('The server cannot be reached. ' +
	(safe ? `Try again to ${what}.` : 'Whether it was done is not known; look at the list first.'))

// waits shows a notice if a request takes more than 10 s. The result ends that.
/** @param {string} what */
export function waits(what) {
	const text = `There is no response yet to the request to ${what}. Other tabs may use all connections.`
	const timer = setTimeout(() => notice(text, 'faint'), 10_000)
	return () => {
		clearTimeout(timer)
		if ($('notice').textContent === text) notice('')
	}
}

// resultOf returns the decoded content of a response, null if it is not JSON.
/** @type {(text: string, type: string | null) => any} */
export const resultOf = (text, type) => text && /json/.test(type ?? '') ? decode(text) : null

// call sends a request and resolves to its response. A keyed write is repeated with its key if the
// connection breaks or the server asks for it. Thereby it is done once.
/**
 * @param {string} method
 * @param {string} path
 * @param {CallOptions} [options]
 * @returns {Promise<Answer>}
 */
export async function call(method, path, options = {}) {
	const { what = 'do this', value, anonymous, attempt = {}, signal } = options
	const reads = method === 'GET' || method === 'HEAD'
	const body = value === undefined ? undefined : encode(value)
	let keyed = !reads && !anonymous && !keyless && catalog.keyed
	/** @type {Record<string, string>} */
	let headers = { Accept: accepted, ...options.headers }
	if (!anonymous) headers = identify(headers)
	if (keyed) headers['Idempotency-Key'] = keyFor(attempt, `${method} ${path} ${body}`)
	if (value !== undefined) headers['Content-Type'] = options.type ?? 'application/json'
	/** @type {RequestInit} */
	const request = {
		method, headers, signal, body, cache: reads ? 'no-cache' : 'no-store',
		// A redirect may change the method to GET. The response of that would pass for that of the write.
		redirect: reads ? 'follow' : 'manual',
	}
	for (let tries = 1; ; tries++) {
		let answer, text
		const end = method === 'GET' ? () => {} : waits(what)
		try {
			answer = await fetch(config.base + path, request)
			text = await answer.text()
		} catch (error) {
			if (/** @type {Failure} */ (error).name === 'AbortError') throw error
			if (!reads && !keyed || tries > 4) throw lost(what, reads || keyed || anonymous)
			await sleep(300 * 2 ** tries, signal)
			continue
		} finally {
			end()
		}
		const after = answer.headers.get('Retry-After'), wait = Number(after), { status } = answer
		const busy = [409, 429, 503].includes(status) && after !== null && wait <= 10
		if (busy && tries <= 4 && (reads || keyed)) {
			await sleep(Math.max(wait, 0.2) * 1000, signal)
			continue
		}
		settle(attempt, status, after)
		const type = answer.headers.get('Content-Type'), result = resultOf(text, type)
		if (keyed && refusesKey(status, result, what)) {
			keyed = false
			delete headers['Idempotency-Key']
			continue
		}
		if (!answer.ok || text && !/json/.test(type ?? '')) throw new Refusal(status, result, what)
		return { status, headers: answer.headers, value: result }
	}
}

// read returns an item with its entity tag and its position in the feed.
/**
 * @param {string} name
 * @param {string} id
 * @param {CallOptions} [options]
 * @returns {Promise<Read>}
 */
export async function read(name, id, options) {
	const what = `read this item of ${name}`
	const { value, headers } = await call('GET', pathOf(name, id), { what, ...options })
	return { item: value, tag: headers.get('ETag'), cursor: headers.get('Event-Cursor') }
}

// conditional returns the header fields of a write under the condition that the item has a tag.
/**
 * @param {string | null} tag
 * @returns {Record<string, string>}
 */
export const conditional = tag => tag ? { 'If-Match': tag } : {}
