// Search over operations, their parameters and descriptions, and schemas.
import { $, make, report } from '../../httpbody/page/dom.js'
import { badge, hrefOf } from './views.js'
/** @import { Found, Model } from './types' */

// findAll returns the operations and schemas that match all words of a text, best first.
/**
 * @param {Model} model
 * @param {string} text
 */
function findAll(model, text) {
	/** @type {Found[]} */
	const found = []
	const words = text.toLowerCase().split(/\s+/).filter(Boolean)
	if (!words.length) return found
	const score = (/** @type {string[]} */ ...fields) => {
		let sum = 0
		for (const w of words) {
			const i = fields.findIndex(f => f.toLowerCase().includes(w))
			if (i < 0) return 0
			sum += fields.length - i
		}
		return sum
	}
	for (const op of model.operations) {
		const { method, path, summary } = op, names = op.parameters.map(p => p.name).join(' ')
		const n = score(`${method} ${path}`, op.id, summary, names, op.description)
		const last = method === 'OPTIONS' ? -9 : 0
		if (n) found.push({ n: n + last, text: path, method, about: summary, href: hrefOf(op) })
	}
	for (const [name, s] of Object.entries(model.schemas)) {
		const n = score(name, Object.keys(s.properties ?? {}).join(' '))
		if (n) found.push({ n: n - 1, text: name, about: 'schema', href: `#schema/${name}` })
	}
	return found.sort((a, b) => b.n - a.n).slice(0, 30)
}

// searching makes a combobox of an input and a list.
/**
 * @param {HTMLInputElement} input
 * @param {HTMLElement} list
 * @param {() => Model | null} modelOf returns the current model
 */
export function searching(input, list, modelOf) {
	/** @type {Found[]} */
	let found = []
	let at = 0
	const close = () => {
		list.hidden = true
		input.setAttribute('aria-expanded', 'false')
		input.removeAttribute('aria-activedescendant')
	}
	const leave = () => {
		input.value = ''
		close()
		$('main').focus()
	}
	const go = (/** @type {number} */ i) => {
		location.hash = found[i].href
		leave()
	}
	const mark = () => [...list.children].forEach((e, i) => {
		e.setAttribute('aria-selected', String(i === at))
		if (i === at) {
			input.setAttribute('aria-activedescendant', e.id)
			e.scrollIntoView({ block: 'nearest' })
		}
	})
	const open = () => {
		const model = modelOf()
		found = model ? findAll(model, input.value) : []
		at = 0
		list.replaceChildren(...found.map((f, i) => make('li', {
			role: 'option', id: `found-${i}`, onmousedown: e => {
				e.preventDefault()
				go(i)
			},
		}, f.method && badge(f.method), make('code', {}, f.text), make('small', {}, f.about))))
		list.hidden = !found.length
		input.setAttribute('aria-expanded', String(!list.hidden))
		if (found.length) mark()
		else input.removeAttribute('aria-activedescendant')
		if (input.value.trim()) report(`${found.length} found.`)
	}
	input.addEventListener('input', open)
	input.addEventListener('blur', close)
	input.addEventListener('keydown', e => {
		const by = { ArrowDown: 1, ArrowUp: found.length - 1 }[e.key]
		if (e.key === 'Escape') leave()
		else if (list.hidden) return
		else if (by !== undefined) {
			at = (at + by) % found.length
			mark()
		} else if (e.key === 'Enter') go(at)
		else return
		e.preventDefault()
	})
}
