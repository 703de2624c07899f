// Starts a server as a process, for the checks in JavaScript.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

// ownAddress is an address that only this process uses. A server that is restarted there finds its port free: other
// processes listen on 127.0.0.1, where their outgoing connections also take ports.
export const ownAddress = `127.${64 + (process.pid >> 16) % 64}.${(process.pid >> 8) % 256}.${1 + process.pid % 254}:0`

// atContracts is a time at which the shop serves all of its contracts, so that no result depends on the date.
const atContracts = ['-now', '2026-12-01T00:00:00Z']

// startShop starts the shop and resolves when it listens.
export const startShop = (program, addr, args = [], options) => start(program, ['-addr', addr, ...atContracts, ...args], options)

// start runs a program and resolves when it has printed "listening on URL".
export async function start(program, args, options = {}) {
	const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
	let output = ''
	const keep = (text) => { output = (output + text).slice(-5000) }
	child.stderr.on('data', keep)
	const exited = new Promise((resolve) => {
		child.once('exit', (code) => resolve(code))
		child.once('error', (err) => { keep(err.message); resolve(-1) })
	})
	for await (const line of createInterface({ input: child.stdout })) {
		keep(line + '\n')
		const url = /listening on ((?:http|ws):\S+)/.exec(line)?.[1]
		if (!url) continue
		child.stdout.resume()
		return {
			url, addr: url.replace(/^\w+:\/\//, ''), exited,
			output: () => output,
			kill: (signal) => child.kill(signal),
			stop: () => (child.kill('SIGTERM'), exited),
		}
	}
	throw new Error(`the server ended with ${await exited}: ${output}`)
}
