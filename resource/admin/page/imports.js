// Imports: many items from one file of JSON Lines or CSV.
import { make, report } from '../../httpbody/page/dom.js'
import { resourceNamed } from './catalog.js'
import { backTo } from './item.js'
import { fail, notice, textOfError } from './notice.js'
import { faint, heading, isShown, labelled, options, plural, unique } from './parts.js'
import { progressBar, transfer } from './transfer.js'
/** @import { Attempt, Failure, Import, ImportResult, Problem, View } from './types' */

// importView returns the view of an import command.
/**
 * @param {Import} command
 * @returns {Promise<View>}
 */
export async function importView(command) {
	const resource = resourceNamed(command.target), result = make('div', { class: 'result' })
	return {
		node: make('div', {}, resource && backTo(resource), heading(`Import into ${command.target}`),
			faint('Each line or row is an item. An item with an existing id is replaced, and any other is ' +
				'created. Members that the file does not have are then reset.'),
			importForm(command, result), result),
	}
}

// check returns a checkbox.
/** @param {string} name */
const check = name => make('input', { type: 'checkbox', id: unique(name) })

/**
 * @param {HTMLInputElement} box
 * @param {string} text
 */
const checkField = (box, text) =>
	make('div', { class: 'field check' }, box, make('label', { for: box.id }, text))

// importForm returns the form that sends a file, and shows the result in an element.
/**
 * @param {Import} command
 * @param {HTMLElement} result
 */
function importForm(command, result) {
	const accept = '.jsonl,.ndjson,.csv,.gz,application/x-ndjson,text/csv'
	const input = make('input', { type: 'file', required: true, accept })
	const format = make('select', {},
		options([['application/x-ndjson', 'JSON Lines'], ['text/csv', 'CSV with a header row']]))
	const atomic = check('atomic'), merge = check('merge'), place = make('div')
	const send = make('button', { class: 'main' }, 'Import')
	/** @type {Attempt} */
	const attempt = {}
	input.addEventListener('change', () => {
		const isCSV = /\.csv(\.gz)?$/i.test(input.files?.[0]?.name ?? '')
		format.value = isCSV ? 'text/csv' : 'application/x-ndjson'
	})
	return make('form', {
		class: 'upload', 'aria-label': 'Import',
		onsubmit: async event => {
			event.preventDefault()
			const file = input.files?.[0]
			if (!file) return
			notice('')
			result.replaceChildren()
			const { node, cancel, ...bar } = progressBar(`Importing ${file.name}`)
			place.replaceChildren(node)
			cancel.focus()
			send.disabled = true
			/** @type {Record<string, string>} */
			const headers = { 'Content-Type': format.value }
			if (file.name.endsWith('.gz')) headers['Content-Encoding'] = 'gzip'
			const flags = [atomic.checked && 'atomic=true', merge.checked && 'mode=merge'].filter(Boolean)
			const path = `/${command.name}${flags.length ? '?' + flags.join('&') : ''}`
			try {
				const { value } = await transfer('POST', path, file, {
					what: `import into ${command.target}`, ...bar, attempt, headers,
				})
				showResult(result, value)
			} catch (error) {
				const { name, problem } = /** @type {Failure} */ (error)
				if (name !== 'AbortError') fail(error)
				else notice('The import was canceled. Lines that were stored before remain.', 'good')
				if (problem?.rejected) showResult(result, problem)
			} finally {
				node.remove()
				send.disabled = false
				;(result.querySelector('h2') ?? send).focus()
			}
		},
	}, labelled('File', input), labelled('Format', format),
	checkField(merge, 'Change only the members that the file has'),
	command.atomic && checkField(atomic, 'Store all lines or none'),
	make('div', { class: 'buttons' }, send), place)
}

// showResult shows the counts of an import and the lines that were rejected.
/**
 * @param {HTMLElement} place
 * @param {ImportResult} result
 */
function showResult(place, result) {
	const { created = 0, replaced = 0, rejected = [], rejectedTotal = rejected.length, skipped = 0 } = result
	const others = skipped ? `, and ${plural(skipped, 'line')} skipped with them` : ''
	const text = `${plural(created, 'item')} created, ${replaced.toLocaleString('en')} replaced, ` +
		`${plural(rejectedTotal, 'line')} rejected${others}.`
	if (isShown(place)) report(text)
	else notice(`Import: ${text}`, 'good')
	place.replaceChildren(make('h2', { tabIndex: -1 }, 'Result'), make('p', { class: 'counts' }, text))
	if (!rejected.length) return
	const rows = rejected.map(({ line, problem, skipped: more }) => make('tr', {},
		make('th', { scope: 'row' }, more ? `${line} to ${line + more}` : String(line)),
		make('td', {}, reasonsOf(problem))))
	const some = rejected.length < rejectedTotal
	const caption = some ? `The first ${rejected.length} rejected lines` : 'Rejected lines'
	const head = ['Line', 'Reason'].map(name => make('th', { scope: 'col' }, name))
	place.append(make('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Rejected lines' },
		make('table', {}, make('caption', {}, caption),
			make('thead', {}, make('tr', {}, head)), make('tbody', {}, rows))))
}

// reasonsOf returns the errors of a rejected line.
/** @param {Problem} problem */
const reasonsOf = ({ errors, detail, title }) =>
	errors?.length ? errors.map(e => make('div', {}, textOfError(e))) : detail ?? title
