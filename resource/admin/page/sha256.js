// SHA-256 (FIPS 180-4) of a file, read as a stream: the digest functions of browsers need all of it in
// memory. The API needs a digest to identify an upload with an idempotency key, and verifies that it has
// received each byte.

const ROUNDS = (() => {
	/** @type {number[]} */
	const roots = [], /** @type {number[]} */ words = []
	for (let n = 2; roots.length < 64; n++) {
		if (!roots.some(p => n % p === 0)) {
			roots.push(n)
			words.push((Math.cbrt(n) % 1) * 2 ** 32 | 0)
		}
	}
	const start = Int32Array.from(roots.slice(0, 8), p => (Math.sqrt(p) % 1) * 2 ** 32 | 0)
	return { k: Int32Array.from(words), start }
})()

// compress updates the state with the 64 bytes of data at an offset. w is memory for 64 words.
/**
 * @param {Int32Array} state
 * @param {Int32Array} w
 * @param {Uint8Array} data
 * @param {number} at
 */
function compress(state, w, data, at) {
	for (let i = 0; i < 16; i++, at += 4) {
		w[i] = data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3]
	}
	for (let i = 16; i < 64; i++) {
		const x = w[i - 15], y = w[i - 2]
		const sum = w[i - 16] + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) | 0
		w[i] = (sum + w[i - 7] | 0) + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10) | 0
	}
	const k = ROUNDS.k
	let a = state[0], b = state[1], c = state[2], d = state[3]
	let e = state[4], f = state[5], g = state[6], h = state[7]
	for (let i = 0; i < 64; i++) {
		const s = h + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7)) | 0
		const t = (s + (g ^ e & (f ^ g)) | 0) + (k[i] + w[i] | 0) | 0
		const v = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)
		const u = v + (a & b | c & (a | b)) | 0
		h = g, g = f, f = e, e = d + t | 0, d = c, c = b, b = a, a = t + u | 0
	}
	// | 0 after each addition keeps the numbers 32-bit integers, which is several times faster.
	state[0] += a, state[1] += b, state[2] += c, state[3] += d
	state[4] += e, state[5] += f, state[6] += g, state[7] += h
}

// sha256 returns the digest of a Blob in base64. It calls progress with the number of bytes that have been
// read.
/**
 * @param {Blob} blob
 * @param {(n: number) => void} [progress]
 * @param {AbortSignal} [signal]
 */
export async function sha256(blob, progress, signal) {
	const state = ROUNDS.start.slice(), w = new Int32Array(64)
	let rest = new Uint8Array(0), size = 0
	for (const reader = blob.stream().getReader(); ;) {
		const { done, value } = await reader.read()
		signal?.throwIfAborted()
		if (done) break
		size += value.length
		let data = value
		if (rest.length) {
			data = new Uint8Array(rest.length + value.length)
			data.set(rest)
			data.set(value, rest.length)
		}
		let at = 0
		for (; at + 64 <= data.length; at += 64) compress(state, w, data, at)
		rest = data.slice(at)
		progress?.(size)
	}
	const end = new Uint8Array(rest.length < 56 ? 64 : 128), view = new DataView(end.buffer)
	end.set(rest)
	end[rest.length] = 0x80
	view.setUint32(end.length - 8, Math.floor(size / 2 ** 29))
	view.setUint32(end.length - 4, size * 8 >>> 0)
	for (let at = 0; at < end.length; at += 64) compress(state, w, end, at)
	const sum = new DataView(new ArrayBuffer(32))
	state.forEach((word, i) => sum.setInt32(4 * i, word))
	return btoa(String.fromCharCode(...new Uint8Array(sum.buffer)))
}
