// Following changes: server-sent events over fetch, because EventSource cannot send an Authorization
// field.
import { sleep } from './parts.js'
import { config, identify } from './session.js'
/** @import { StreamEvent, Subscriber } from './types' */

// silence is the time without a byte, in ms, after which the connection counts as lost. The server sends
// a comment every 15 seconds.
const silence = 45_000

// follow subscribes to a path after a position of the feed. It resumes after the last event that it
// received, so nothing is lost or repeated. It calls on.event for each event and on.state with live, lost,
// expired or refused. The last two end the subscription. The result stops it. A hidden page has no stream:
// all tabs of a host share six connections.
/**
 * @param {string} path
 * @param {string | null | undefined} cursor
 * @param {Subscriber} on
 */
export function follow(path, cursor, on) {
	const end = new AbortController()
	let connection = new AbortController()
	const turn = () => connection.abort()
	document.addEventListener('visibilitychange', turn, { signal: end.signal })
	end.signal.addEventListener('abort', turn)
	const loop = async () => {
		for (let wait = 500; !end.signal.aborted; wait = Math.min(2 * wait, 10_000)) {
			connection = new AbortController()
			const { signal } = connection
			if (document.hidden) await new Promise(done => signal.addEventListener('abort', done))
			if (signal.aborted) continue
			try {
				const headers = identify({ Accept: 'text/event-stream' })
				if (cursor) headers['Last-Event-ID'] = cursor
				const answer = await fetch(config.base + path, { headers, signal, cache: 'no-store' })
				const { status } = answer
				if (status === 410) return on.state('expired')
				// A page of HTML is no stream.
				const streams = answer.headers.get('Content-Type')?.startsWith('text/event-stream')
				if (status < 500 && status !== 429 && !(status === 200 && streams)) return on.state('refused')
				if (answer.ok && answer.body) {
					on.state('live')
					wait = 250
					for await (const event of eventsOf(answer.body.getReader())) {
						cursor = event.id || cursor
						if (event.data) on.event(event)
					}
				}
			} catch {
				// The connection was lost.
			}
			if (signal.aborted) continue
			on.state('lost')
			await sleep(wait, signal)
		}
	}
	loop()
	return () => end.abort()
}

// eventsOf parses a stream of events (HTML Living Standard, section 9.2.6).
/** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function* eventsOf(reader) {
	const decoder = new TextDecoder()
	let text = ''
	/** @type {StreamEvent} */
	let event = { id: '', type: '', data: '' }
	for (; ;) {
		const timer = setTimeout(() => reader.cancel(), silence)
		const { done, value } = await reader.read().finally(() => clearTimeout(timer))
		if (done) return
		text += decoder.decode(value, { stream: true })
		const lines = text.split(/\r\n|\n|\r(?!$)/)
		text = lines.pop() ?? ''
		for (const line of lines) {
			if (line === '') {
				yield event
				event = { id: event.id, type: '', data: '' }
				continue
			}
			const [, name, content] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
			if (name === 'data') event.data += (event.data && '\n') + content
			if (name === 'event') event.type = content
			if (name === 'id') event.id = content
		}
	}
}
