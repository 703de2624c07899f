// Subscriptions: results as they arrive, newest first, over a WebSocket or as server-sent events.
import { $, make, report } from '../../../../resource/httpbody/page/dom.js'
import { parsed, prettyJSON } from '../../../../resource/httpbody/page/jsontext.js'
import { headers } from './editors.js'
import { endpoint } from './endpoint.js'
import { arrayOf, colours, problemOf } from './run.js'

const KEPT = 200

/**
 * @typedef {(text: string, id?: string) => void} Show
 * @typedef {(body: string, signal: AbortSignal, show: Show, last: string) => Promise<string>} Way
 */

// overSocket subscribes over a WebSocket (graphql-transport-ws). It resolves at the end: to 'done',
// 'lost', or 'never' if the server does not support the protocol. It sends no headers, because a page
// cannot add header fields to a WebSocket.
/** @type {Way} */
const overSocket = (body, signal, show) => new Promise(resolve => {
	const socket = new WebSocket(endpoint.replace(/^http/, 'ws'), 'graphql-transport-ws')
	const stop = () => socket.close(1000)
	let end = 'never'
	const done = () => { end = 'done'; stop() }
	signal.addEventListener('abort', done)
	socket.onopen = () => socket.send('{"type":"connection_init"}')
	socket.onmessage = ({ data }) => {
		// The text of the result as sent, so that numbers beyond 2^53 are not rounded.
		const { type, payload } = parsed(data) ?? {}, text = data.slice(data.indexOf('"payload":') + 10, -1)
		if (type === 'connection_ack') {
			end = 'lost'
			socket.send(`{"id":"1","type":"subscribe","payload":${body}}`)
		} else if (type === 'ping') socket.send(JSON.stringify({ type: 'pong', payload }))
		else if (type === 'next') show(text)
		else if (type === 'error') { show(`{"errors":${text}}`); done() }
		else if (type === 'complete') done()
	}
	socket.onclose = e => {
		signal.removeEventListener('abort', done)
		if (end === 'lost' && e.code >= 4400 && e.code !== 4408) {
			show(JSON.stringify({ errors: [{ message: `${e.code} ${e.reason}` }] }))
			end = 'done'
		}
		resolve(end)
	}
})

// overEvents subscribes by server-sent events (graphql-sse), with the header fields, after the result
// with the cursor last.
/** @type {Way} */
async function overEvents(body, signal, show, last) {
	const fields = { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...headers() }
	let response
	try {
		response = await fetch(endpoint, {
			method: 'POST', signal, body, headers: last ? { ...fields, 'Last-Event-ID': last } : fields,
		})
	} catch {
		return 'lost'
	}
	if (!response.ok && response.status >= 500) return 'lost'
	if (!response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
		show(await response.text())
		return 'done'
	}
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
	for (let rest = ''; ;) {
		const { value, done } = await reader.read().catch(() => ({ done: true, value: '' }))
		if (done) return 'lost'
		const blocks = (rest + value).split('\n\n')
		rest = blocks.pop() ?? ''
		for (const block of blocks) {
			const field = (/** @type {string} */ name) => block.split('\n')
				.filter(l => l.startsWith(name + ': ')).map(l => l.slice(name.length + 2)).join('\n')
			if (field('event') === 'next') show(field('data'), field('id'))
			if (field('event') === 'complete') return 'done'
		}
	}
}

// listen shows the results of a subscription until it ends or is stopped. After an interruption it
// resumes after the last result if that has a cursor. Otherwise it reports that results may be
// missing.
/**
 * @param {string} body
 * @param {string} query
 * @param {AbortSignal} signal
 */
export async function listen(body, query, signal) {
	let way = Object.keys(headers() ?? {}).length ? overEvents : overSocket, count = 0, last = '', wait = 500
	$('answer-text').replaceChildren()
	$('errors').replaceChildren()
	$('answer').classList.remove('failed')
	const results = () => `${count} result${count === 1 ? '' : 's'}`
	const about = (/** @type {string} */ state) => {
		const over = way === overSocket ? 'WebSocket' : 'events'
		$('about').replaceChildren(make('b', {}, state), ` ${results()} over ${over}`)
	}
	/** @type {Show} */
	const show = (text, id) => {
		const body = parsed(text), errors = arrayOf(body?.errors)
		const data = /** @type {any} */ (Object.values(body?.data ?? {})[0])
		last = id || (typeof data?.cursor === 'string' ? data.cursor : '')
		wait = 500
		count++
		entry(`${count} · ${new Date().toLocaleTimeString()}`, prettyJSON(text) ?? text)
		$('errors').replaceChildren(...errors.map(e => problemOf(e, query)))
		$('answer').classList.toggle('failed', errors.length > 0)
		about('live')
		report(errors.length ? String(errors[0]?.message) : `${results()}.`)
	}
	about('live')
	report('Listening …')
	for (;;) {
		const end = await way(body, signal, show, last)
		if (signal.aborted || end === 'done') break
		if (end === 'never' && way === overSocket) {
			way = overEvents
			about('live')
			continue
		}
		about('interrupted')
		report(`The connection was lost. Trying again in ${wait / 1000} s.`)
		await new Promise(resolve => { setTimeout(resolve, wait); signal.addEventListener('abort', resolve) })
		if (signal.aborted) break
		wait = Math.min(wait * 2, 15_000)
		if (last) way = overEvents // which resumes from a cursor for any document
		else if (count) {
			entry('interrupted', 'Changes during the interruption are not shown. ' +
				'Select the cursor field to receive them.')
		}
	}
	about(signal.aborted ? 'stopped' : 'complete')
	report(signal.aborted ? 'Stopped.' : 'Complete.')
}

// entry adds a result above the others.
/** @type {(title: string, text: string) => void} */
function entry(title, text) {
	const list = $('answer-text')
	list.prepend(make('div', { class: 'event' }, make('small', {}, title), '\n', ...colours(text)))
	while (list.childElementCount > KEPT) list.lastElementChild?.remove()
}
