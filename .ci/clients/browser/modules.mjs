// Modules of pages in Chromium, from the files of the repository and not as the linked script of a page.
import { readFileSync } from 'node:fs'

const root = new URL('../../../', import.meta.url)

// source returns a file of the repository.
export const source = path => readFileSync(new URL(path, root), 'utf8')

// serveModules responds to requests of a page: to those of modules, such as /resource/admin/page/api.js, with the file at
// this path of the repository, and to others with a document.
export async function serveModules(page, html) {
	await page.setRequestInterception(true)
	page.on('request', r => {
		const { pathname } = new URL(r.url())
		if (pathname.endsWith('.js')) r.respond({ contentType: 'text/javascript; charset=utf-8', body: source(pathname.slice(1)) })
		else r.respond({ contentType: 'text/html; charset=utf-8', body: html })
	})
}
