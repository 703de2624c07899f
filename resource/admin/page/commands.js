// Commands: a form of the input, and the output or a link to the job.
import { make, report } from '../../httpbody/page/dom.js'
import { call } from './api.js'
import { resourceNamed } from './catalog.js'
import { itemForm } from './form.js'
import { backTo } from './item.js'
import { leave } from './navigate.js'
import { notice } from './notice.js'
import { address, faint, heading, isShown } from './parts.js'
import { shown, textOf, titleOf } from './values.js'
/** @import { Command, Form, View } from './types' */

// commandView returns the view of a command.
/**
 * @param {Command} command
 * @returns {Promise<View>}
 */
export async function commandView({ name, doc, input, job }) {
	const [area, action] = name.split('/'), result = make('div', { class: 'result' }), title = titleOf(action)
	const fields = input.map(f => /password/i.test(f.name) ? { ...f, writeOnly: true } : f)
	/** @type {Form} */
	const form = itemForm({ fields, operations: [] }, null, title, async (value, attempt) => {
		result.replaceChildren()
		const answer = await call('POST', '/' + name, { what: `call ${name}`, value, attempt })
		if (job && answer.status === 202 && resourceNamed(job)) {
			const id = decodeURIComponent(answer.headers.get('Location')?.split('/').pop() ?? '')
			return leave(form.node, address('item', job, id), `Started ${name}.`)
		}
		const head = make('h2', { tabIndex: -1 }, 'Result'), members = Object.entries(answer.value ?? {})
		const list = members.map(([n, v]) => [make('dt', {}, titleOf(n)), make('dd', {}, outputOf(v))])
		result.replaceChildren(head, members.length
			? make('dl', { class: 'fixed' }, list) : make('p', {}, 'Done.'))
		head.focus()
		if (isShown(result)) report(`${title}: done.`)
		else notice(`${title}: done.`, 'good')
	})
	const resource = resourceNamed(area)
	return {
		node: make('div', {}, resource && backTo(resource), heading(title), doc && faint(doc), form.node,
			result),
		dirty: form.dirty, focus: input.length ? form.focus : null,
	}
}

// outputOf returns a value of an output as a node. Unlike those of items, texts and lists are complete.
/** @param {any} v */
const outputOf = v => v && ['string', 'object'].includes(typeof v)
	? make('span', { class: 'value' }, textOf(v)) : shown({}, v)
