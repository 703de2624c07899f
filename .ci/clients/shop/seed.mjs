// Random numbers of the checks. SEED makes a run repeat them.
const seed = Number(process.env.SEED ?? 1)
let state = seed >>> 0

// random returns a number of at least 0 and less than 1 (mulberry32).
export function random() {
	state = state + 0x6d2b79f5 >>> 0
	let t = Math.imul(state ^ state >>> 15, state | 1)
	t ^= t + Math.imul(t ^ t >>> 7, t | 61)
	return ((t ^ t >>> 14) >>> 0) / 2 ** 32
}

// between returns an integer of at least low and at most high.
export const between = (low, high) => low + Math.floor(random() * (high - low + 1))

// slowdown is how many times slower pages run: 1, and up to 4 if a check runs many times with different seeds.
export const slowdown = process.env.TIMES ? 1 + seed % 4 : 1
