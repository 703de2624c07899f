// Files: the list of a collection of blobs, with upload, download and deletion.
import { $, make, report } from '../../httpbody/page/dom.js'
import { Refusal, call, conditional } from './api.js'
import { pathOf, resourceNamed } from './catalog.js'
import { listView } from './list.js'
import { fail, notice } from './notice.js'
import { button, bytes, confirmed, faint, heading, isShown, labelled } from './parts.js'
import { authorization, config, identify } from './session.js'
import { progressBar, transfer } from './transfer.js'
import { titleOf } from './values.js'
/** @import { Attempt, Failure, Files, RowActions, TransferOptions, View } from './types' */

// filesView returns the view of a collection of files.
/**
 * @param {Files} files
 * @param {URLSearchParams} params
 * @returns {Promise<View>}
 */
export async function filesView(files, params) {
	const listed = files.listed && resourceNamed(files.name)
	const upload = files.operations.includes('replace') && uploadForm(files)
	if (!listed) {
		return { node: make('div', {}, heading(titleOf(files.name)), upload, downloadForm(files)) }
	}
	/** @type {RowActions} */
	const actions = (item, row) => {
		const name = item[listed.id]
		const remove = () => removeFile(files, name, row)
		return [
			button('Download', () => download(files, name), { 'aria-label': `Download ${name}` }),
			files.operations.includes('delete') &&
				button('Delete', remove, { class: 'danger', 'aria-label': `Delete ${name}` }),
		]
	}
	return listView(listed, params, { actions, top: upload || faint('These files cannot be changed here.') })
}

// uploadForm returns the form that stores a file under a name.
/** @param {Files} files */
function uploadForm(files) {
	const input = make('input', { type: 'file', required: true, accept: files.mediaTypes?.join(',') ?? '' })
	const name = make('input', { required: true, maxLength: 255, autocomplete: 'off' }), place = make('div')
	const send = make('button', { class: 'main' }, 'Upload')
	/** @type {Attempt} */
	const attempt = {}
	input.addEventListener('change', () => { name.value = input.files?.[0]?.name ?? '' })
	return make('form', {
		class: 'upload', 'aria-label': 'Upload a file',
		onsubmit: async event => {
			event.preventDefault()
			const file = input.files?.[0]
			if (!file) return
			notice('')
			const { node, cancel, ...bar } = progressBar(`Uploading ${name.value}`)
			place.replaceChildren(node)
			cancel.focus()
			send.disabled = true
			try {
				const stored = await store(files, name.value, file, { ...bar, attempt })
				if (stored) notice(`${name.value} was ${stored} (${bytes(file.size)}).`, 'good')
			} catch (error) {
				const canceled = /** @type {Failure} */ (error).name === 'AbortError'
				if (canceled) notice('The upload was canceled.', 'good')
				else fail(error)
			} finally {
				node.remove()
				send.disabled = false
				if (document.activeElement === document.body) send.focus()
			}
		},
	}, labelled('File', input), labelled('Name', name), make('div', { class: 'buttons' }, send), place)
}

// store sends a file that does not exist yet. If it exists, it is replaced after a confirmation, on the
// condition that its tag has not changed. store resolves to what was done, empty for nothing.
/**
 * @param {Files} files
 * @param {string} name
 * @param {File} file
 * @param {Pick<TransferOptions, 'progress' | 'signal' | 'attempt'>} options
 */
async function store(files, name, file, options) {
	const path = pathOf(files.name, name), type = file.type || 'application/octet-stream'
	const send = (/** @type {Record<string, string>} */ condition) => transfer('PUT', path, file, {
		what: `upload ${name}`, headers: { 'Content-Type': type, ...condition }, ...options,
	})
	const tag = await tagOf(path)
	if (!tag) {
		await send({ 'If-None-Match': '*' })
		return 'stored'
	}
	const replaces = await confirmed(`Replace ${name}?`, `There is a file with the name ${name}.`, 'Replace')
	if (!replaces) return ''
	await send(conditional(tag))
	return 'replaced'
}

// tagOf returns the entity tag of a file, and null if there is none.
/** @param {string} path */
async function tagOf(path) {
	try {
		const { headers } = await call('HEAD', path, { what: 'read this file', headers: { Accept: '*/*' } })
		return headers.get('ETag')
	} catch (error) {
		const { status } = /** @type {Failure} */ (error)
		if (status === 404 || status === 410) return null
		throw error
	}
}

// download saves a file. A link sends cookies alone, so the content is read by the script if there is an
// Authorization field: to the disk if the browser can do that, and otherwise to memory.
/**
 * @param {Files} files
 * @param {string} name
 */
async function download(files, name) {
	const path = config.base + pathOf(files.name, name)
	if (!authorization) return save(path, name)
	const target = await window.showSaveFilePicker?.({ suggestedName: name })
	const answer = await fetch(path, { headers: identify({}) })
	if (!answer.ok) throw new Refusal(answer.status, null, `download ${name}`)
	if (target && answer.body) {
		await answer.body.pipeTo(await target.createWritable())
	} else {
		const url = URL.createObjectURL(await answer.blob())
		save(url, name)
		setTimeout(() => URL.revokeObjectURL(url), 60_000)
	}
	report(`${name} was downloaded.`)
}

/** @type {(href: string, download: string) => void} */
const save = (href, download) => make('a', { href, download }).click()

// downloadForm returns a form for collections that cannot be listed.
/** @param {Files} files */
function downloadForm(files) {
	const name = make('input', { required: true, autocomplete: 'off' })
	return make('form', {
		class: 'upload', 'aria-label': 'Download a file',
		onsubmit: event => {
			event.preventDefault()
			download(files, name.value).catch(fail)
		},
	}, labelled('Name of the file', name), make('div', { class: 'buttons' }, make('button', {}, 'Download')))
}

// removeFile deletes a file after a confirmation, on the condition that it is the one that was confirmed.
/**
 * @param {Files} files
 * @param {string} name
 * @param {HTMLElement} row
 */
async function removeFile(files, name, row) {
	const path = pathOf(files.name, name), tag = await tagOf(path)
	if (!await confirmed('Delete this file?', `${name} will be deleted.`, 'Delete')) return
	await call('DELETE', path, { what: `delete ${name}`, headers: conditional(tag) })
	row.classList.add('deleted')
	for (const b of row.querySelectorAll('button')) b.disabled = true
	notice(`${name} was deleted.`, 'good')
	if (isShown(row)) $('view').querySelector('h1')?.focus()
}
