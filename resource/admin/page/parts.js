// Parts of several views: buttons, links, dialogs and texts.
import { make } from '../../httpbody/page/dom.js'
import { fail } from './notice.js'
/** @import { Children, Properties } from '../../httpbody/page/types' */

// button returns a button that calls act. Errors of act are shown in the notice of the view.
/**
 * @param {string} text
 * @param {(event: MouseEvent & { currentTarget: HTMLButtonElement }) => unknown} act
 * @param {Properties<'button'>} [properties]
 */
export const button = (text, act, properties) => make('button', {
	type: 'button', ...properties, onclick: event => Promise.resolve(act(event)).catch(fail),
}, text)

// link returns a link to a view, such as link('Order 5', 'item', 'orders', 5).
/**
 * @param {string} text
 * @param {...(string | number)} path
 */
export const link = (text, ...path) => make('a', { href: address(...path) }, text)

// address returns the fragment of a view.
/** @param {...(string | number)} path */
export const address = (...path) => '#' + path.map(encodeURIComponent).join('/')

// isShown reports whether an element is shown and no other view was requested: the view before the next
// one is inert.
/** @param {Element} node */
export const isShown = node => node.isConnected && !node.closest('[inert]')

// serial makes ids of elements unique.
let serial = 0
/** @param {string} prefix */
export const unique = prefix => `${prefix}-${++serial}`

// labelled returns a control with its label, and optional nodes after the control.
/**
 * @param {string} text
 * @param {HTMLElement} input
 * @param {...Children} more
 */
export function labelled(text, input, ...more) {
	input.id ||= unique('control')
	return make('div', { class: 'labelled' }, make('label', { for: input.id }, text), input, more)
}

// options returns the options of a select element for pairs of value and text.
/**
 * @param {string[][]} pairs
 * @param {string} [selected]
 */
export const options = (pairs, selected) => pairs.map(([value, text]) =>
	make('option', { value, selected: value === selected }, text ?? value))

// heading returns the heading of a view, which can have the focus.
/** @param {string} text */
export const heading = text => make('h1', { tabIndex: -1 }, text)

// faint returns a paragraph of less importance.
/** @param {string} text */
export const faint = text => make('p', { class: 'faint' }, text)

// openDialog shows a dialog and resolves, when it is closed, to whether by the button with this value.
/**
 * @param {HTMLDialogElement} dialog
 * @param {string} value
 * @returns {Promise<boolean>}
 */
export function openDialog(dialog, value) {
	document.body.append(dialog)
	dialog.showModal()
	return new Promise(done => dialog.addEventListener('close', () => {
		dialog.remove()
		done(dialog.returnValue === value)
	}))
}

// confirmed shows a dialog and resolves to true if the user confirms.
/**
 * @param {string} question
 * @param {string} text
 * @param {string} action
 */
export function confirmed(question, text, action) {
	const id = unique('title')
	return openDialog(make('dialog', { 'aria-labelledby': id }, make('form', { method: 'dialog' },
		make('h2', { id }, question), make('p', {}, text),
		make('menu', {}, make('button', { value: 'yes', class: 'danger' }, action),
			make('button', { value: '', autofocus: true }, 'Cancel')))), 'yes')
}

// plural returns a number with a noun: 1 item, 1,003 items.
/**
 * @param {number} n
 * @param {string} noun
 */
export const plural = (n, noun) => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`

// bytes returns a size for readers.
/** @param {number} n */
export function bytes(n) {
	const units = ['bytes', 'KiB', 'MiB', 'GiB']
	let i = 0
	for (; n >= 1024 && i < 3; i++) n /= 1024
	return `${i ? n.toFixed(1) : n} ${units[i]}`
}

// sleep resolves after a time, or when signal is aborted.
/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export const sleep = (ms, signal) => new Promise(done => {
	const timer = setTimeout(done, ms)
	signal?.addEventListener('abort', () => { clearTimeout(timer); done() }, { once: true })
})
