// Parts of the page that several modules use: what it keeps, coloured texts and movable separators.
import { make } from '../../../../resource/httpbody/page/dom.js'
import { storeFor } from '../../../../resource/httpbody/page/store.js'
/** @import { Token } from '../../../../resource/httpbody/page/types' */
/** @import { Problem } from './types' */

// kept has the draft, the header fields, the history and the layout.
export const kept = storeFor('stoa.graphql')

// shades returns nodes that show a text, with tokens in the colours of their classes and marks
// underlined.
/**
 * @param {string} text
 * @param {Token[]} tokens
 * @param {Problem[]} marks
 */
export function shades(text, tokens, marks = []) {
	/** @type {(string | Node)[]} */
	const nodes = []
	let at = 0, plain = ''
	for (const t of tokens) {
		plain += text.slice(at, t.s)
		at = t.e
		const marked = marks.filter(m => m.s < t.e && t.s < Math.max(m.e, m.s + 1))
		const c = (t.c ?? '') + (marked.length ? marked.every(m => m.mild) ? ' mild' : ' wrong' : '')
		if (!c || /^[[\]{}:,]$/.test(c)) {
			plain += text.slice(t.s, t.e)
			continue
		}
		if (plain) nodes.push(plain)
		plain = ''
		nodes.push(make('span', { class: c }, text.slice(t.s, t.e)))
	}
	nodes.push(plain + text.slice(at))
	return nodes
}

// splitter makes a separator movable with the pointer or arrow keys. It sets a property of its
// parent, in percent.
/**
 * @param {HTMLElement} bar
 * @param {string} property
 * @param {boolean} upright
 */
export function splitter(bar, property, upright) {
	const parent = /** @type {HTMLElement} */ (bar.parentElement)
	const now = () => Number(bar.getAttribute('aria-valuenow'))
	const set = (/** @type {number} */ percent) => {
		percent = Math.round(Math.max(15, Math.min(85, percent)))
		parent.style.setProperty(property, percent + '%')
		bar.setAttribute('aria-valuenow', String(percent))
		kept.set(property, percent)
	}
	bar.addEventListener('pointerdown', e => {
		e.preventDefault()
		bar.setPointerCapture(e.pointerId)
		bar.onpointermove = e => {
			const box = parent.getBoundingClientRect()
			set(upright ? (e.clientX - box.left) / box.width * 100 : (e.clientY - box.top) / box.height * 100)
		}
	})
	bar.addEventListener('pointerup', () => { bar.onpointermove = null })
	bar.addEventListener('keydown', e => {
		const by = { ArrowLeft: -5, ArrowUp: -5, ArrowRight: 5, ArrowDown: 5 }[e.key]
		if (!by) return
		e.preventDefault()
		set(now() + by)
	})
	set(kept.get(property) ?? now())
}
