// Elements. All text is inserted as text: nothing that a server, a document or a link contains is
// parsed as HTML.
/** @import { Children, Properties } from './types' */

// $ returns the element with an id.
/** @param {string} id */
export const $ = id => /** @type {HTMLElement} */ (document.getElementById(id))

// make returns an element. Properties that begin with "on" are listeners; "class", "role", "for"
// and those with a "-" are attributes; the others are members. Null is no property, and null, false
// and '' are no children.
/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties<K>} [properties]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties, ...children) {
	const e = document.createElement(tag)
	for (const [k, v] of Object.entries(/** @type {Record<string, any>} */ (properties ?? {}))) {
		if (v == null) continue
		if (k.startsWith('on')) e.addEventListener(k.slice(2), v)
		else if (['class', 'role', 'for'].includes(k) || k.includes('-')) e.setAttribute(k, v)
		else Object.assign(e, { [k]: v })
	}
	const shown = children.flat(9).filter(x => x != null && x !== false && x !== '')
	e.append(.../** @type {(string | Node)[]} */ (shown))
	return e
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let later

// report writes to the status line, which screen readers announce. A repeated text is announced again.
/** @param {string} text */
export function report(text) {
	const status = $('status')
	clearTimeout(later)
	status.textContent = text && status.textContent === text ? text + '\u00a0' : text
}

// reportLater calls a function that reports, after a pause in typing, unless report is called before.
/** @param {() => void} act */
export function reportLater(act) {
	clearTimeout(later)
	later = setTimeout(act, 400)
}

// copyText copies a text to the clipboard. It resolves to false if the browser does not allow it,
// as on plain HTTP.
/** @param {string} text */
export async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text)
		return true
	} catch {
		return false
	}
}

// tablist makes the tabs in an element respond to clicks and keys: arrow keys, Home and End move
// between tabs. It calls chosen with the selected tab, and returns a function that selects a tab.
/**
 * @param {HTMLElement} list
 * @param {(tab: HTMLElement) => void} chosen
 */
export function tablist(list, chosen) {
	const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=tab]')])
	const choose = (/** @type {HTMLElement} */ tab, focus = false) => {
		for (const t of all) {
			t.setAttribute('aria-selected', String(t === tab))
			t.tabIndex = t === tab ? 0 : -1
		}
		if (focus) tab.focus()
		chosen(tab)
	}
	list.addEventListener('click', e => {
		const tab = all.find(t => t.contains(/** @type {Node} */ (e.target)))
		if (tab) choose(tab)
	})
	list.addEventListener('keydown', e => {
		const n = all.indexOf(/** @type {HTMLElement} */ (e.target))
		const to = { ArrowRight: n + 1, ArrowLeft: n - 1, Home: 0, End: -1 }[e.key]
		if (n < 0 || to === undefined) return
		e.preventDefault()
		choose(/** @type {HTMLElement} */ (all.at(to % all.length)), true)
	})
	return choose
}
