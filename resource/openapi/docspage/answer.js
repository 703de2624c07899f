// Sending the request of a form, and its response.
import { make, report } from '../../httpbody/page/dom.js'
import { prettyJSON } from '../../httpbody/page/jsontext.js'
import { isJSON } from './model.js'
import { coloured, count, messageOf } from './parts.js'
import { isFile } from './request.js'
/** @import { Form, Request } from './types' */

// sendRequest sends the request of a form, or stops the one that the form has sent, and shows the
// response, also if another view is shown when it arrives.
/**
 * @param {Request} request
 * @param {Form} form
 */
export async function sendRequest(request, form) {
	if (form.sending) return form.sending.abort()
	const mine = form.sending = new AbortController(), { answer, button } = form
	const { url, method, headers } = request, began = performance.now()
	button.textContent = 'Stop'
	answer.replaceChildren(make('p', { class: 'faint' }, 'Waiting …'))
	try {
		const response = await fetch(url, { method, headers, body: contentOf(request), signal: mine.signal })
		await showAnswer(response, began, form)
	} catch (e) {
		const text = mine.signal.aborted ? 'Stopped.' : `No response: ${messageOf(e)}`
		if (mine.signal.aborted && answer.querySelector('pre')) {
			answer.append(make('p', { class: 'faint' }, text))
		} else answer.replaceChildren(make('p', { class: 'wrong' }, text))
		report(text)
	}
	form.sending = null
	form.streams = false
	button.textContent = 'Send'
}

/** @param {Request} request */
function contentOf({ media, body, file }) {
	if (!media) return undefined
	if (media !== 'multipart/form-data') return isFile(media) ? file ?? '' : body
	const data = new FormData()
	if (file) data.append('file', file)
	return data
}

const sized = (/** @type {number} */ n) =>
	n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`

// showAnswer shows a response. A stream is shown while it arrives.
/**
 * @param {Response} response
 * @param {number} began
 * @param {Form} form
 */
async function showAnswer(response, began, form) {
	const { ok, status, statusText, url } = response, headers = [...response.headers]
	const type = response.headers.get('Content-Type') ?? '', title = `${status} ${statusText}`
	const line = make('p', { class: ok || status === 304 ? 'good' : 'bad' }, make('b', {}, title))
	const text = make('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Response body' })
	form.answer.replaceChildren(line, text, make('details', {},
		make('summary', {}, 'Header fields', count(headers.length)),
		make('dl', { class: 'fields' }, headers.map(([k, v]) => [make('dt', {}, k), make('dd', {}, v)]))))
	report(`Response: ${title}`)
	if (/event-stream|ndjson/.test(type)) return showStream(response, text, form)
	const bytes = await response.arrayBuffer(), time = Math.round(performance.now() - began)
	line.append(make('span', { class: 'faint' }, ` ${time} ms, ${sized(bytes.byteLength)}`))
	if (!bytes.byteLength) return text.remove()
	const save = (/** @type {string} */ name, /** @type {string} */ label) => make('a', {
		href: URL.createObjectURL(new Blob([bytes], { type })), download: url.split('/').at(-1) || name,
	}, label)
	if (type && !isJSON(type) && !/^text\/|xml|yaml|graphql/.test(type)) {
		return text.replaceWith(make('p', {}, save('file', `Save the content (${type})`)))
	}
	const body = new TextDecoder().decode(bytes)
	if (isJSON(type) && body.length < 2e5) text.append(...coloured(prettyJSON(body) ?? body))
	else text.append(body.slice(0, 5e5))
	if (body.length > 5e5) {
		const notice = `The first 500,000 of ${body.length} characters are shown. `
		text.before(make('p', { class: 'wrong' }, notice, save('body', 'Save all')))
	}
}

// showStream shows a stream while it arrives. It ends if the view of its form is not shown.
/**
 * @param {Response} response
 * @param {HTMLElement} text
 * @param {Form} form
 */
async function showStream(response, text, form) {
	form.streams = true
	if (!form.answer.isConnected) form.sending?.abort()
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
	for (let step; reader && !(step = await reader.read()).done;) {
		text.append(step.value)
		text.scrollTop = text.scrollHeight
	}
}
