// A TCP proxy before a server, which holds an upload at a size. Thereby a check sees a page that is sending, however fast the
// machine is.
import { connect, createServer } from 'node:net'

// tunnel starts the proxy on a free port of the server's address:
//
//	url      is its URL
//	hold     stops a connection from the page after so many bytes, until release is called
//	close    ends it
export async function tunnel(to) {
	const { hostname, port } = new URL(to), sockets = new Set()
	let limit = Infinity, held = []
	const server = createServer(from => {
		const up = connect({ host: hostname, port: Number(port) })
		let received = 0
		for (const [a, b] of [[from, up], [up, from]]) {
			sockets.add(a)
			a.on('error', () => b.destroy()).on('close', () => { sockets.delete(a); b.destroy() })
		}
		up.pipe(from)
		from.on('data', bytes => {
			received += bytes.length
			const full = !up.write(bytes)
			if (received >= limit) held.push(from.pause())
			else if (full) up.once('drain', () => held.includes(from) || from.resume()), from.pause()
		})
		from.on('end', () => up.end())
	})
	await new Promise(done => server.listen(0, hostname, done))
	return {
		url: `http://${hostname}:${server.address().port}`,
		hold: bytes => { limit = bytes },
		release() {
			limit = Infinity
			for (const from of held.splice(0)) from.resume()
		},
		close() {
			server.close()
			for (const socket of sockets) socket.destroy()
		},
	}
}
