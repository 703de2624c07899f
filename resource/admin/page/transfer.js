// Sending a file with progress. XMLHttpRequest reads it from the disk while it sends, and reports how much it has sent.

// transfer sends a file. headers are more header fields, and attempt is the memory of the form. It resolves like call. With
// a key it first computes the digest of the file, which identifies the request and lets the server verify the content.
async function transfer(method, path, file, options) {
	const { what, progress, signal, attempt } = options, headers = identify({ Accept: 'application/json, application/problem+json', ...options.headers })
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
		request.onload = () => {
			try {
				settle(attempt, request.status, request.getResponseHeader('Retry-After'))
				const result = request.responseText && /json/.test(request.getResponseHeader('Content-Type')) ? decode(request.responseText) : null
				if (keyed && refusesKey(request.status, result, what)) resolve(transfer(method, path, file, options))
				else if (request.status < 300) resolve({ status: request.status, headers: { get: n => request.getResponseHeader(n) }, value: result })
				else reject(new Refusal(request.status, result, what))
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

// progressBar returns a bar with a text and a button that cancels. progress updates it, and signal is aborted by the button.
function progressBar(title) {
	const end = new AbortController(), began = performance.now(), id = unique('progress')
	const bar = make('progress', { max: 1, value: 0, 'aria-labelledby': id }), text = make('output', { class: 'faint', 'aria-live': 'off' })
	let announced = -1
	const progress = (step, n, total) => {
		if (step === 'Storing') bar.removeAttribute('value') // how long that takes is not known
		else bar.value = total ? n / total : 1
		const seconds = Math.max((performance.now() - began) / 1000, 0.001)
		text.textContent = `${step}: ${bytes(n)} of ${bytes(total)}, ${Math.round(seconds)} s`
		const quarter = Math.floor(4 * n / total)
		if (step === 'Sending' && quarter !== announced) report(`${title}: ${25 * (announced = quarter)} percent sent.`)
	}
	const cancel = button('Cancel', () => end.abort())
	return { node: make('div', { class: 'progress' }, make('span', { id }, title), bar, text, cancel), progress, signal: end.signal, cancel }
}

