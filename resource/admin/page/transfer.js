// Sending a file with progress. XMLHttpRequest reads it from the disk while it sends, and reports how much
// it has sent.
import { make, report } from '../../httpbody/page/dom.js'
import { Refusal, accepted, keyFor, lost, refusesKey, resultOf, settle, waits } from './api.js'
import { catalog } from './catalog.js'
import { bytes, button, unique } from './parts.js'
import { config, identify, keyless } from './session.js'
import { sha256 } from './sha256.js'
/** @import { Answer, TransferOptions } from './types' */

// transfer sends a file. It resolves like call. With a key it first computes the digest of the file, which
// identifies the request and lets the server verify the content.
/**
 * @param {string} method
 * @param {string} path
 * @param {File} file
 * @param {TransferOptions} options
 * @returns {Promise<Answer>}
 */
export async function transfer(method, path, file, options) {
	const { what, progress, signal, attempt } = options
	const headers = identify({ Accept: accepted, ...options.headers })
	const keyed = catalog.keyed && !keyless
	if (keyed) {
		const sum = await sha256(file, n => progress('Reading', n, file.size), signal)
		headers['Content-Digest'] = `sha-256=:${sum}:`
		headers['Idempotency-Key'] = keyFor(attempt, `${method} ${path} ${headers['Content-Type']} ${sum}`)
	}
	signal.throwIfAborted()
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest()
		request.open(method, config.base + path)
		for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
		const end = waits(what)
		request.onloadend = end
		request.upload.onprogress = e => {
			end()
			progress(e.loaded < file.size ? 'Sending' : 'Storing', e.loaded, file.size)
		}
		const get = (/** @type {string} */ name) => request.getResponseHeader(name)
		request.onload = () => {
			try {
				const { status } = request
				settle(attempt, status, get('Retry-After'))
				const value = resultOf(request.responseText, get('Content-Type'))
				if (keyed && refusesKey(status, value, what)) resolve(transfer(method, path, file, options))
				else if (status < 300) resolve({ status, headers: { get }, value })
				else reject(new Refusal(status, value, what))
			} catch (error) {
				reject(error)
			}
		}
		request.onerror = () => reject(lost(what, keyed))
		request.onabort = () => reject(new DOMException('Canceled', 'AbortError'))
		signal.addEventListener('abort', () => request.abort())
		request.send(file)
	})
}

// progressBar returns a bar with a text and a button that cancels. progress updates it, and signal is
// aborted by the button.
/** @param {string} name */
export function progressBar(name) {
	const end = new AbortController(), began = performance.now(), id = unique('progress')
	const bar = make('progress', { max: 1, value: 0, 'aria-labelledby': id })
	const text = make('output', { class: 'faint', 'aria-live': 'off' })
	let announced = -1
	/** @type {TransferOptions['progress']} */
	const progress = (step, n, total) => {
		if (step === 'Storing') bar.removeAttribute('value') // how long that takes is not known
		else bar.value = total ? n / total : 1
		const seconds = Math.max((performance.now() - began) / 1000, 0.001)
		text.textContent = `${step}: ${bytes(n)} of ${bytes(total)}, ${Math.round(seconds)} s`
		const quarter = Math.floor(4 * n / total)
		if (step !== 'Sending' || quarter === announced) return
		announced = quarter
		report(`${name}: ${25 * quarter} percent sent.`)
	}
	const cancel = button('Cancel', () => end.abort())
	const node = make('div', { class: 'progress' }, make('span', { id }, name), bar, text, cancel)
	return { node, progress, signal: end.signal, cancel }
}
