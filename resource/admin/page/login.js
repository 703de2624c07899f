// Signing in: by the command of the API that returns a token, or with the value of an Authorization field.

// openLogin shows the dialog, with the reason if a request was rejected.
function openLogin(reason = '') {
	if ($('login').open) return
	const problem = make('p', { class: 'wrong', role: 'alert' }, reason)
	const parts = [make('h2', { id: 'login-title' }, 'Sign in'), problem]
	if (config.login) parts.push(loginForm(problem))
	parts.push(fieldForm(), make('menu', {}, authorization && button('Sign out', signOut), button('Cancel', () => $('login').close())))
	$('login').replaceChildren(...parts.filter(Boolean))
	$('login').showModal()
	$('login').querySelector('input')?.focus()
}

// loginForm is the form of the login command.
function loginForm(problem) {
	const { command, token, fields } = config.login
	const inputs = fields.map(f => make('input', {
		name: f.name, required: f.required, type: f.secret ? 'password' : 'text', autocomplete: f.secret ? 'current-password' : 'username',
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
				problem.textContent = error.problem?.detail ?? error.message
				inputs.at(-1)?.focus()
			}
		},
	}, fields.map((f, i) => labelled(titleOf(f.name), inputs[i])), make('button', { class: 'main' }, 'Sign in'))
}

// fieldForm takes the value of an Authorization field.
function fieldForm() {
	const input = make('input', { autocomplete: 'off', spellcheck: false, required: true, placeholder: 'Bearer …' })
	const form = make('form', {
		onsubmit: event => {
			event.preventDefault()
			const value = input.value.trim()
			signedIn(value, /^\S*(?=\s)/.exec(value)?.[0] ?? '').catch(fail) // a token without a scheme is not shown
		},
	}, labelled('Authorization header', input), make('button', {}, 'Use it'),
	make('p', { class: 'faint' }, 'The value stays in this tab and is sent with each request. Cookies are sent without it.'))
	return config.login ? make('details', {}, make('summary', {}, 'Use an Authorization header'), form) : form
}

// signedIn starts a session and shows the view again. If the value is rejected, the one before remains.
async function signedIn(value, name) {
	const before = authorization
	authorization = value
	keyless = false
	$('login').close()
	const error = await start()
	if (error?.status === 401) {
		authorization = before
		return
	}
	$('who').textContent = name
	$('account').textContent = 'Account'
	if (!error) report('Signed in.')
}

// signOut revokes the token if the API has a command for that, and forgets it in any case. It asks first whether changes
// that are not saved can be lost.
async function signOut() {
	if (!await mayLeave(view?.dirty)) return
	const revoke = config.logout && call('POST', '/' + config.logout, { what: 'sign out', value: {} })
	$('login').close()
	clear()
	await Promise.resolve(revoke).catch(() => { arrived = ['The token was not revoked. It ends when it expires.'] })
	authorization = ''
	$('who').textContent = ''
	$('account').textContent = 'Sign in'
	await start()
	report('Signed out.')
}

