// Requests and their responses.
const REQUEST = ['query', 'variables', 'operationName', 'extensions']

// bare returns a URL without the parameters of a request.
function bare(address) {
	const url = new URL(address, location.href)
	url.hash = ''
	for (const name of REQUEST) url.searchParams.delete(name)
	return url.href
}
const endpoint = bare(document.querySelector('meta[name=endpoint]').content || location.href)
const sdl = () => endpoint.replace(/\/?(\?.*)?$/, '/schema.graphql$1')

// send sends a request and returns the response as text, with status, size and time.
async function send(body, headers, signal) {
	const began = performance.now()
	const response = await fetch(endpoint, {
		method: 'POST', signal, body,
		headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json;q=0.9', ...headers },
	})
	const bytes = await response.arrayBuffer()
	return {
		status: response.status, ok: response.ok, reason: response.statusText, time: performance.now() - began, size: bytes.byteLength,
		text: new TextDecoder().decode(bytes), type: response.headers.get('Content-Type') ?? '',
	}
}

const parsed = text => {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}
const sized = n => n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`
const timed = ms => ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`

// showAnswer shows a response, and marks the locations of its errors in the editor.
function showAnswer(answer, query) {
	const pretty = prettyJSON(answer.text), text = pretty ?? answer.text, body = parsed(answer.text)
	const errors = Array.isArray(body?.errors) ? body.errors : []
	$('answer-text').replaceChildren(...pretty && text.length < 3e5 ? colours(text) : pieces(text))
	$('answer').classList.toggle('failed', !answer.ok || errors.length > 0)
	$('errors').replaceChildren(...errors.map(e => problemOf(e, query)))
	const count = errors.length ? `, ${errors.length} error${errors.length > 1 ? 's' : ''}` : ''
	$('about').replaceChildren(make('b', {}, `${answer.status}${answer.reason ? ' ' + answer.reason : ''}`), ` ${timed(answer.time)}`, ` ${sized(answer.size)}`)
	report(`Answer: ${answer.status}${count}, ${timed(answer.time)}, ${sized(answer.size)}.`)
	const marks = errors.flatMap(e => (Array.isArray(e?.locations) ? e.locations : []).map(l => mark(query, l, String(e.message))))
	if (marks.length && query === editors.query.text) editors.query.mark(marks.filter(Boolean))
}
// colours returns nodes that show JSON in colours.
const colours = text => shades(text, lexJSON(text).map((t, i, all) => all[i + 1]?.k === ':' ? { ...t, c: 'field' } : t))
// pieces splits a long text after ends of lines, so that the browser lays out the visible part only.
const pieces = text => (text.match(/(?:[^\n]*\n){1,400}|[^\n]+$/g) ?? []).map(piece => make('div', { class: 'piece' }, piece))

function mark(query, at, message) {
	if (!(at?.line > 0 && at?.column > 0)) return null
	const s = offsetOf(query, at)
	return { s, e: s + 1, message }
}

// problemOf returns the element of an error: its message, its path in the response, and its location in the document.
function problemOf(e, query) {
	const at = Array.isArray(e?.locations) ? e.locations[0] : null, path = Array.isArray(e?.path) ? e.path.join(' › ') : ''
	return make('li', {},
		e?.extensions?.code && make('code', {}, String(e.extensions.code)), ' ', String(e?.message ?? JSON.stringify(e)), ' ',
		path && make('small', {}, 'at ' + path), ' ',
		mark(query, at) && make('button', { type: 'button', class: 'to', onclick: () => editors.query.go(offsetOf(editors.query.text, at)) }, `line ${at.line}, column ${at.column}`))
}

// curl returns the same request as a shell command.
function curl(body, headers) {
	const quote = s => `'${s.replaceAll("'", "'\\''")}'`
	const all = { 'Content-Type': 'application/json', ...headers }
	return [`curl ${quote(endpoint)}`, ...Object.entries(all).map(([k, v]) => `-H ${quote(`${k}: ${v}`)}`), `--data-raw ${quote(body)}`].join(' \\\n  ')
}
