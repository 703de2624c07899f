// Files: the list of a collection of blobs, with upload, download and deletion.

// filesView returns the view of a collection of files.
async function filesView(files, params) {
	const listed = files.listed && resourceNamed(files.name)
	const upload = files.operations.includes('replace') && uploadForm(files)
	if (!listed) return { node: make('div', {}, make('h1', { tabIndex: -1 }, titleOf(files.name)), upload, downloadForm(files)) }
	const actions = (item, row) => [
		button('Download', () => download(files, item[listed.id]), { 'aria-label': `Download ${item[listed.id]}` }),
		files.operations.includes('delete') && button('Delete', () => removeFile(files, item[listed.id], row), { class: 'danger', 'aria-label': `Delete ${item[listed.id]}` }),
	]
	return listView(listed, params, { actions, top: upload || make('p', { class: 'faint' }, 'These files cannot be changed here.') })
}

// uploadForm returns the form that stores a file under a name.
function uploadForm(files) {
	const input = make('input', { type: 'file', required: true, accept: files.mediaTypes?.join(',') ?? '' })
	const name = make('input', { required: true, maxLength: 255, autocomplete: 'off' }), place = make('div')
	const send = make('button', { class: 'main' }, 'Upload'), attempt = {}
	input.addEventListener('change', () => { name.value = input.files[0]?.name ?? '' })
	return make('form', {
		class: 'upload', 'aria-label': 'Upload a file',
		onsubmit: async event => {
			event.preventDefault()
			notice('')
			const bar = progressBar(`Uploading ${name.value}`)
			place.replaceChildren(bar.node)
			bar.cancel.focus()
			send.disabled = true
			try {
				const stored = await store(files, name.value, input.files[0], { ...bar, attempt })
				if (stored) notice(`${name.value} was ${stored} (${bytes(input.files[0].size)}).`, 'good')
			} catch (error) {
				if (error.name === 'AbortError') notice('The upload was canceled.', 'good')
				else fail(error)
			} finally {
				bar.node.remove()
				send.disabled = false
				if (document.activeElement === document.body) send.focus()
			}
		},
	}, labelled('File', input), labelled('Name', name), make('div', { class: 'buttons' }, send), place)
}

// store sends a file that does not exist yet. If it exists, it is replaced after a confirmation, on the condition that
// its tag has not changed.
async function store(files, name, file, options) {
	const path = pathOf(files.name, name), send = condition => transfer('PUT', path, file, {
		what: `upload ${name}`, headers: { 'Content-Type': file.type || 'application/octet-stream', ...condition }, ...options,
	})
	const tag = await tagOf(path)
	if (!tag) {
		await send({ 'If-None-Match': '*' })
		return 'stored'
	}
	if (!await confirmed(`Replace ${name}?`, `There is a file with the name ${name}.`, 'Replace')) return ''
	await send(conditional(tag))
	return 'replaced'
}

// tagOf returns the entity tag of a file, and null if there is none.
async function tagOf(path) {
	try {
		return (await call('HEAD', path, { what: 'read this file', headers: { Accept: '*/*' } })).headers.get('ETag')
	} catch (error) {
		if (error.status === 404 || error.status === 410) return null
		throw error
	}
}

// download saves a file. A link sends cookies alone, so the content is read by the script if there is an Authorization
// field: to the disk if the browser can do that, and otherwise to memory.
async function download(files, name) {
	const path = config.base + pathOf(files.name, name)
	if (!authorization) return save(path, name)
	const target = await window.showSaveFilePicker?.({ suggestedName: name })
	const answer = await fetch(path, { headers: identify({}) })
	if (!answer.ok) throw new Refusal(answer.status, null, `download ${name}`)
	if (target) {
		await answer.body.pipeTo(await target.createWritable())
	} else {
		const url = URL.createObjectURL(await answer.blob())
		save(url, name)
		setTimeout(() => URL.revokeObjectURL(url), 60_000)
	}
	report(`${name} was downloaded.`)
}

const save = (href, name) => make('a', { href, download: name }).click()

// downloadForm returns a form for collections that cannot be listed.
function downloadForm(files) {
	const name = make('input', { required: true, autocomplete: 'off' })
	return make('form', { class: 'upload', 'aria-label': 'Download a file', onsubmit: event => { event.preventDefault(); download(files, name.value).catch(fail) } },
		labelled('Name of the file', name), make('div', { class: 'buttons' }, make('button', {}, 'Download')))
}

// removeFile deletes a file after a confirmation, on the condition that it is the one that was confirmed.
async function removeFile(files, name, row) {
	const path = pathOf(files.name, name), tag = await tagOf(path)
	if (!await confirmed('Delete this file?', `${name} will be deleted.`, 'Delete')) return
	await call('DELETE', path, { what: `delete ${name}`, headers: conditional(tag) })
	row.classList.add('deleted')
	for (const b of row.querySelectorAll('button')) b.disabled = true
	notice(`${name} was deleted.`, 'good')
	if (isShown(row)) document.querySelector('main h1').focus()
}

