// Messages above the view, and errors.
import { $, make, report } from '../../httpbody/page/dom.js'
/** @import { Failure, ProblemError } from './types' */

// notice shows a message above the content of the view until the next one. kind is error, good or faint.
/**
 * @param {string} text
 * @param {string} [kind]
 * @param {...(Node | null | undefined | false)} more
 */
export function notice(text, kind = 'error', ...more) {
	const box = $('notice')
	box.className = kind
	box.replaceChildren(...(text ? [make('p', {}, text), ...more.filter(x => !!x)] : []))
	if (kind === 'error' && text) box.scrollIntoView({ block: 'nearest' })
	if (kind !== 'error' && text) report(text)
}

// textOfError returns a text about an error in a problem document.
/** @param {ProblemError} error */
export const textOfError = ({ detail, pointer, parameter, header, code }) =>
	detail ?? `${pointer ?? parameter ?? header}: ${code}`

// detailsOf returns a list of the errors of a problem document, null if it has none.
/** @param {ProblemError[] | undefined} errors */
const detailsOf = errors => errors?.length
	? make('ul', {}, errors.map(e => make('li', {}, textOfError(e)))) : null

/** @type {(reason: string) => void} */
let askToSignIn = () => {}

// setSignIn sets the function that asks the user to sign in. The module of that function imports this one.
/** @param {(reason: string) => void} open */
export function setSignIn(open) { askToSignIn = open }

// fail shows an error with the errors of its problem, and asks the user to sign in after status 401.
// A request that was aborted because the user left the view is no error.
/** @param {any} error */
export function fail(error) {
	const failure = /** @type {Failure | undefined} */ (error)
	if (failure?.name === 'AbortError') return
	notice(failure?.message ?? String(error), 'error', detailsOf(failure?.problem?.errors))
	if (failure?.status === 401) askToSignIn(failure.message)
}
