// Requests to the endpoint.
/** @import { Answer } from './types' */
const REQUEST = ['query', 'variables', 'operationName', 'extensions']

// bare returns a URL without the parameters of a request.
/** @param {string} address */
export function bare(address) {
	const url = new URL(address, location.href)
	url.hash = ''
	for (const name of REQUEST) url.searchParams.delete(name)
	return url.href
}

const target = document.querySelector('meta[name=endpoint]')?.getAttribute('content')
export const endpoint = bare(target || location.href)

// sdl returns the URL of the schema as text.
export const sdl = () => endpoint.replace(/\/?(\?.*)?$/, '/schema.graphql$1')

// send sends a request and returns the response as text, with status, size and time.
/**
 * @param {string} body
 * @param {Record<string, string>} headers
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 */
export async function send(body, headers, signal) {
	const began = performance.now()
	const accept = 'application/graphql-response+json, application/json;q=0.9'
	const response = await fetch(endpoint, {
		method: 'POST', signal, body,
		headers: { 'Content-Type': 'application/json', Accept: accept, ...headers },
	})
	const bytes = await response.arrayBuffer()
	return {
		status: response.status, ok: response.ok, reason: response.statusText,
		time: performance.now() - began, size: bytes.byteLength,
		text: new TextDecoder().decode(bytes), type: response.headers.get('Content-Type') ?? '',
	}
}

// curl returns the same request as a shell command. live is set for a subscription, which is read as events.
/**
 * @param {string} body
 * @param {Record<string, string>} headers
 * @param {boolean} live
 */
export function curl(body, headers, live) {
	const quote = (/** @type {string} */ s) => `'${s.replaceAll("'", "'\\''")}'`
	const accept = live ? { Accept: 'text/event-stream' } : {}
	const fields = Object.entries({ 'Content-Type': 'application/json', ...accept, ...headers })
	return [`curl ${live ? '-N ' : ''}${quote(endpoint)}`,
		...fields.map(([k, v]) => `-H ${quote(`${k}: ${v}`)}`),
		`--data-raw ${quote(body)}`].join(' \\\n  ')
}
