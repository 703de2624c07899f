// Responses.
import { $, make, report } from '../../../../resource/httpbody/page/dom.js'
import { lexJSON, parsed, prettyJSON } from '../../../../resource/httpbody/page/jsontext.js'
import { editors } from './editors.js'
import { offsetOf } from './lex.js'
import { shades } from './parts.js'
/** @import { Answer, Problem, ResponseError } from './types' */

const sized = (/** @type {number} */ n) =>
	n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`
const timed = (/** @type {number} */ ms) =>
	ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(2)} s`

// arrayOf returns a value if it is an array, otherwise an empty one.
/** @type {(value: any) => any[]} */
export const arrayOf = value => Array.isArray(value) ? value : []

// showAnswer shows a response, and marks the locations of its errors in the editor.
/**
 * @param {Answer} answer
 * @param {string} query
 */
export function showAnswer(answer, query) {
	const pretty = prettyJSON(answer.text), text = pretty ?? answer.text
	/** @type {ResponseError[]} */
	const errors = arrayOf(parsed(answer.text)?.errors)
	$('answer-text').replaceChildren(...pretty && text.length < 3e5 ? colours(text) : pieces(text))
	$('answer').classList.toggle('failed', !answer.ok || errors.length > 0)
	$('errors').replaceChildren(...errors.map(e => problemOf(e, query)))
	const count = errors.length ? `, ${errors.length} error${errors.length > 1 ? 's' : ''}` : ''
	const status = make('b', {}, `${answer.status}${answer.reason ? ' ' + answer.reason : ''}`)
	$('about').replaceChildren(status, ` ${timed(answer.time)}`, ` ${sized(answer.size)}`)
	report(`Answer: ${answer.status}${count}, ${timed(answer.time)}, ${sized(answer.size)}.`)
	const marks = errors.flatMap(e => arrayOf(e?.locations).map(l => mark(query, l, String(e.message))))
	if (marks.length && query === editors.query.text) editors.query.mark(marks.filter(m => m !== null))
}

// colours returns nodes that show JSON in colours.
export const colours = (/** @type {string} */ text) =>
	shades(text, lexJSON(text).map((t, i, all) => all[i + 1]?.k === ':' ? { ...t, c: 'field' } : t))

// pieces splits a long text after ends of lines, so that the browser lays out the visible part only.
const pieces = (/** @type {string} */ text) =>
	(text.match(/(?:[^\n]*\n){1,400}|[^\n]+$/g) ?? []).map(piece => make('div', { class: 'piece' }, piece))

// mark returns the mark of a location in an error, null if it is no location.
/** @type {(query: string, at: any, message: string) => Problem | null} */
function mark(query, at, message) {
	if (!(at?.line > 0 && at?.column > 0)) return null
	const s = offsetOf(query, at)
	return { s, e: s + 1, message }
}

// problemOf returns the element of an error: its message, its path in the response, and its location
// in the document.
/**
 * @param {ResponseError} e
 * @param {string} query
 */
export function problemOf(e, query) {
	const at = arrayOf(e?.locations)[0], path = arrayOf(e?.path).join(' › ')
	const go = () => editors.query.go(offsetOf(editors.query.text, at))
	return make('li', {},
		e?.extensions?.code ? make('code', {}, String(e.extensions.code)) : null, ' ',
		String(e?.message ?? JSON.stringify(e)), ' ', path && make('small', {}, 'at ' + path), ' ',
		mark(query, at, '') && make('button', { type: 'button', class: 'to', onclick: go },
			`line ${at.line}, column ${at.column}`))
}
