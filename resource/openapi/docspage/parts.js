// Parts of the page that several modules use: what it keeps, copy buttons, tabs and coloured JSON.
import { copyText, make, report, tablist } from '../../httpbody/page/dom.js'
import { lexJSON } from '../../httpbody/page/jsontext.js'
import { storeFor } from '../../httpbody/page/store.js'

// kept has the colors, the keys, the selected tabs and, in the tab only, the credentials.
export const kept = storeFor('stoa.docs')

/**
 * @param {() => string} get
 * @param {string} what
 */
export const copyButton = (get, what) => make('button', {
	type: 'button', class: 'copy', 'aria-label': `Copy ${what}`, onclick: async e => {
		const button = e.currentTarget
		let done = await copyText(get())
		if (!done) {
			// The text is copied by the older command, or stays selected.
			button.parentElement?.querySelector('.copied')?.remove()
			const area = make('textarea', {
				value: get(), readOnly: true, class: 'copied', 'aria-label': what,
			})
			button.after(area)
			area.select()
			done = document.execCommand('copy')
			if (done) {
				area.remove()
				button.focus()
			}
		}
		button.textContent = done ? 'Copied' : 'Press Ctrl-C'
		report(done ? `${what} copied.` : `The ${what} is selected. Press Ctrl-C to copy it.`)
		if (done) setTimeout(() => { button.textContent = 'Copy' }, 1500)
	},
}, 'Copy')

// tabs returns a list of tabs and their panel.
/**
 * @param {string} label
 * @param {string} key the name under which the selection is kept
 * @param {string[]} names
 * @param {(name: string) => Node} panelOf returns the content for the selected name
 */
export function tabs(label, key, names, panelOf) {
	const id = `tabs-${key}`
	const panel = make('div', { id: `${id}-panel`, role: 'tabpanel', 'aria-label': label })
	const all = names.map(name => make('button', {
		type: 'button', role: 'tab', id: `${id}-${name}`, 'aria-controls': panel.id,
	}, name))
	const list = make('div', { role: 'tablist', 'aria-label': label }, all)
	const selected = () => Math.max(0, names.indexOf(kept.get(key)))
	const update = () => panel.replaceChildren(panelOf(names[selected()]))
	const choose = tablist(list, tab => {
		kept.set(key, tab.textContent)
		panel.replaceChildren(panelOf(tab.textContent ?? ''))
	})
	choose(all[selected()])
	return { list, panel, update }
}

/** @param {string} text */
export function coloured(text) {
	const nodes = [], tokens = lexJSON(text)
	let at = 0
	for (const [i, { k, s, e, v }] of tokens.entries()) {
		if (k.length === 1 || k === 'bad') continue // a punctuator has no color
		const kind = tokens[i + 1]?.k === ':' ? 'field' : k
		nodes.push(text.slice(at, s), make('span', { class: kind }, v))
		at = e
	}
	nodes.push(text.slice(at))
	return nodes
}

/** @param {number} n */
export const count = n => make('span', { class: 'count' }, String(n))

/** @param {unknown} e */
export const messageOf = e => e instanceof Error ? e.message : String(e)
