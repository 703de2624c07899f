// Signing in: by the command of the API that returns a token, or with the value of an Authorization field.
import { $, make, report } from '../../httpbody/page/dom.js'
import { call } from './api.js'
import { clear, mayLeave, noticeNext, start } from './navigate.js'
import { fail } from './notice.js'
import { button, faint, labelled } from './parts.js'
import { authorization, authorize, config } from './session.js'
import { titleOf } from './values.js'
/** @import { Config, Failure } from './types' */

const loginDialog = () => /** @type {HTMLDialogElement} */ ($('login'))

// openLogin shows the dialog, with the reason if a request was rejected.
export function openLogin(reason = '') {
	const dialog = loginDialog()
	if (dialog.open) return
	const problem = make('p', { class: 'wrong', role: 'alert' }, reason)
	dialog.replaceChildren(make('h2', { id: 'login-title' }, 'Sign in'), problem,
		...config.login ? [loginForm(config.login, problem)] : [], fieldForm(),
		make('menu', {}, authorization && button('Sign out', signOut),
			button('Cancel', () => dialog.close())))
	dialog.showModal()
	dialog.querySelector('input')?.focus()
}

// loginForm is the form of the login command. It shows errors in the element problem.
/**
 * @param {NonNullable<Config['login']>} login
 * @param {HTMLElement} problem
 */
function loginForm({ command, token, fields }, problem) {
	const inputs = fields.map(f => make('input', {
		name: f.name, required: f.required, type: f.secret ? 'password' : 'text',
		autocomplete: f.secret ? 'current-password' : 'username',
	}))
	return make('form', {
		onsubmit: async event => {
			event.preventDefault()
			problem.textContent = ''
			try {
				const value = Object.fromEntries(inputs.filter(i => i.value).map(i => [i.name, i.value]))
				const answer = await call('POST', '/' + command, { what: 'continue', value, anonymous: true })
				await signedIn('Bearer ' + answer.value[token], inputs[0]?.value ?? '')
			} catch (error) {
				const failure = /** @type {Failure} */ (error)
				problem.textContent = failure.problem?.detail ?? failure.message
				inputs.at(-1)?.focus()
			}
		},
	}, fields.map((f, i) => labelled(titleOf(f.name), inputs[i])),
	make('button', { class: 'main' }, 'Sign in'))
}

// fieldForm takes the value of an Authorization field.
function fieldForm() {
	const input = make('input', {
		autocomplete: 'off', spellcheck: false, required: true, placeholder: 'Bearer …',
	})
	const form = make('form', {
		onsubmit: event => {
			event.preventDefault()
			const value = input.value.trim(), scheme = /^\S*(?=\s)/.exec(value)?.[0]
			signedIn(value, scheme ?? '').catch(fail) // a token without a scheme is not shown
		},
	}, labelled('Authorization header', input), make('button', {}, 'Use it'),
	faint('The value stays in this tab and is sent with each request. Cookies are sent without it.'))
	return config.login ? make('details', {}, make('summary', {}, 'Use an Authorization header'), form) : form
}

// signedIn starts a session and shows the view again. If the value is rejected, the one before remains.
/**
 * @param {string} value
 * @param {string} name
 */
async function signedIn(value, name) {
	const before = authorization
	authorize(value)
	loginDialog().close()
	const error = await start()
	if (error?.status === 401) return authorize(before)
	$('who').textContent = name
	$('account').textContent = 'Account'
	if (!error) report('Signed in.')
}

// signOut revokes the token if the API has a command for that, and forgets it in any case. It asks first
// whether changes that are not saved can be lost.
async function signOut() {
	if (!await mayLeave()) return
	const revoke = config.logout && call('POST', '/' + config.logout, { what: 'sign out', value: {} })
	loginDialog().close()
	clear()
	await Promise.resolve(revoke)
		.catch(() => noticeNext('The token was not revoked. It ends when it expires.'))
	authorize('')
	$('who').textContent = ''
	$('account').textContent = 'Sign in'
	await start()
	report('Signed out.')
}
