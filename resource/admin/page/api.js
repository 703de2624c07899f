// Requests to the REST API, under the rights of the user.
const config = JSON.parse(document.querySelector('meta[name=config]').content)

// catalog is the description of what the API serves: description.json.
let catalog = { keyed: false, resources: [], files: [], imports: [], commands: [] }

// authorization is the value of the Authorization field. Empty means cookies alone. It is kept in this tab's memory only.
let authorization = ''

const resourceNamed = name => catalog.resources.find(r => r.name === name)
const can = (resource, operation) => resource.operations.includes(operation)
const pathOf = (name, id) => '/' + name + (id === undefined ? '' : '/' + encodeURIComponent(id))

// Refusal is the error of a response that is not successful.
class Refusal extends Error {
	constructor(status, problem, what) {
		super(explain(status, problem, what))
		this.status = status
		this.problem = problem
	}
}

// explain returns a sentence about a response. what is the operation, such as "delete this item".
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
const newKey = () => `"${Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('')}"`

// keyless reports that the API has refused the key of an anonymous caller, and that the API has no login.
let keyless = false

// keyFor returns the key of a write, which a text identifies. attempt is an object that a form keeps: while the outcome of
// its last write is unknown, the same write has the same key. settle ends that when a final response has arrived.
function keyFor(attempt, write) {
	if (attempt.write !== write) Object.assign(attempt, { write, key: newKey() })
	return attempt.key
}

function settle(attempt, status, retryAfter) {
	if (status < 500 && retryAfter === null) attempt.write = null
}

// refusesKey reports whether a response refuses the key of an anonymous caller. If the API has a login, the user is asked
// to sign in. Otherwise this request and later ones are sent without a key.
function refusesKey(status, problem, what) {
	if (status !== 400 || !problem?.errors?.some(e => e.code === 'anonymous')) return false
	if (config.login) throw new Refusal(401, problem, what)
	return keyless = true
}

// identify adds the Authorization field.
const identify = headers => authorization ? { ...headers, Authorization: authorization } : { ...headers }

// lost returns the error of a request without a response. It can be repeated if it is safe.
const lost = (what, safe) => new Error(`The server cannot be reached. ${safe ? `Try again to ${what}.` : 'Whether it was done is not known; look at the list first.'}`)

// waits shows a notice if a request takes more than 10 s. The result ends that.
function waits(what) {
	const text = `There is no response yet to the request to ${what}. Other tabs may use all connections.`
	const timer = setTimeout(() => notice(text, 'faint'), 10_000)
	return () => {
		clearTimeout(timer)
		if ($('notice').textContent === text) notice('')
	}
}

// call sends a request and resolves to its response: status, headers and the decoded value. Options:
//
//	what      the operation, for messages
//	value     the content, as JSON; type is its media type
//	headers   more header fields
//	anonymous sends neither an idempotency key nor the Authorization field
//	attempt   the memory of a form for keyFor
//	signal    aborts the request
//
// A keyed write is repeated with its key if the connection breaks or the server asks for it. Thereby it is done once.
async function call(method, path, { what = 'do this', value, type, headers, anonymous, attempt = {}, signal } = {}) {
	const reads = method === 'GET' || method === 'HEAD', body = value === undefined ? undefined : encode(value)
	let keyed = !reads && !anonymous && !keyless && catalog.keyed
	headers = { Accept: 'application/json, application/problem+json', ...headers }
	if (!anonymous) headers = identify(headers)
	if (keyed) headers['Idempotency-Key'] = keyFor(attempt, `${method} ${path} ${body}`)
	if (value !== undefined) headers['Content-Type'] = type ?? 'application/json'
	// A redirect may change the method to GET, and the response of that would pass for that of the write.
	const request = { method, headers, signal, cache: reads ? 'no-cache' : 'no-store', redirect: reads ? 'follow' : 'manual', body }
	for (let tries = 1; ; tries++) {
		let answer, text
		const end = method === 'GET' ? () => {} : waits(what)
		try {
			answer = await fetch(config.base + path, request)
			text = await answer.text()
		} catch (error) {
			if (error.name === 'AbortError') throw error
			if (!reads && !keyed || tries > 4) throw lost(what, reads || keyed || anonymous)
			await sleep(300 * 2 ** tries, signal)
			continue
		} finally {
			end()
		}
		const wait = Number(answer.headers.get('Retry-After'))
		if ([409, 429, 503].includes(answer.status) && answer.headers.has('Retry-After') && wait <= 10 && tries <= 4 && (reads || keyed)) {
			await sleep(Math.max(wait, 0.2) * 1000, signal)
			continue
		}
		settle(attempt, answer.status, answer.headers.get('Retry-After'))
		const json = /json/.test(answer.headers.get('Content-Type')), result = text && json ? decode(text) : null
		if (keyed && refusesKey(answer.status, result, what)) {
			keyed = false
			delete headers['Idempotency-Key']
			continue
		}
		if (!answer.ok || text && !json) throw new Refusal(answer.status, result, what)
		return { status: answer.status, headers: answer.headers, value: result }
	}
}

// read returns an item with its entity tag and its position in the feed.
async function read(name, id, options) {
	const { value, headers } = await call('GET', pathOf(name, id), { what: `read this item of ${name}`, ...options })
	return { item: value, tag: headers.get('ETag'), cursor: headers.get('Event-Cursor') }
}

// conditional returns the header fields of a write under the condition that the item has a tag.
const conditional = tag => tag ? { 'If-Match': tag } : {}

