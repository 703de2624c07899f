// An HTTP proxy that records the URL of each request, for proofs that a page requests nothing else.
import { createServer, request } from 'node:http'

// recorder starts a proxy that forwards requests below an origin and refuses all others:
//
//	url        is its address
//	requested  has the URLs in order; for a tunnel, which WebSockets and https use, host and port
//	until      resolves when a URL was requested
//	close      ends it
export async function recorder(origin) {
	const requested = [], waiting = []
	const record = url => {
		requested.push(url)
		for (const w of waiting) if (w.url === url) w.done()
	}
	const server = createServer((from, to) => {
		record(from.url)
		if (!from.url.startsWith(origin + '/')) return to.writeHead(502).end()
		const up = request(from.url, { method: from.method, headers: from.headers }, answer => {
			to.writeHead(answer.statusCode, answer.headers)
			answer.on('error', () => to.destroy()).pipe(to)
		})
		up.on('error', () => to.destroy()) // the page has left, or the server has ended
		to.on('close', () => up.destroy())
		from.pipe(up)
	})
	server.on('connect', (from, socket) => {
		record(from.url)
		socket.on('error', () => {}).end('HTTP/1.1 502 Bad Gateway\r\n\r\n') // the browser may have closed it
	})
	await new Promise(done => server.listen(0, '127.0.0.1', done))
	return {
		url: `http://127.0.0.1:${server.address().port}`, requested,
		until: url => requested.includes(url) ? undefined : new Promise(done => waiting.push({ url, done })),
		close: () => new Promise(done => { server.close(done); server.closeAllConnections() }),
	}
}
