// Chromium for the checks in this folder: a new profile, and no host but this machine. BROWSER is the address of a browser that
// serve.mjs has started; without it each check starts its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer from 'puppeteer-core'
import { slowdown } from '../shop/seed.mjs'

// launch connects to the browser or starts one:
//
//	context   returns a new browser context: a window with cookies and storage of its own
//	folder    is a temporary folder
//	close     closes the contexts and the browser, and removes the folder
export async function launch(options = {}) {
	const folder = mkdtempSync(join(tmpdir(), 'browser-')), shared = process.env.BROWSER, contexts = []
	const browser = shared ? await puppeteer.connect({ browserWSEndpoint: shared, protocolTimeout: 600_000 }) : await puppeteer.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, userDataDir: join(folder, 'profile'),
		timeout: 300_000, protocolTimeout: 600_000,
		args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-pings',
			'--disable-background-networking', '--disable-component-update', '--disable-default-apps', '--disable-extensions',
			'--disable-sync', '--disable-dev-shm-usage', '--disable-features=AutofillServerCommunication', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*'],
		...options,
	})
	const context = async options => {
		const made = await browser.createBrowserContext(options)
		contexts.push(made)
		return made
	}
	const close = async () => {
		if (shared) {
			for (const c of contexts) if (!c.closed) await c.close()
			await browser.disconnect()
		} else await browser.close()
		rmSync(folder, { recursive: true, force: true, maxRetries: 50 }) // the browser's processes may still write there
	}
	return { browser, context, folder, close }
}

// pageIn returns a new page of a context. timeout limits each wait for a state of the page. If a check runs many times, the seed
// decides how fast the page runs.
export async function pageIn(context, { width = 1280, height = 800, timeout = 300_000 } = {}) {
	const page = await context.newPage()
	page.setDefaultTimeout(timeout)
	await page.setViewport({ width, height })
	if (slowdown > 1) await page.emulateCPUThrottling(slowdown)
	return page
}

// strangers returns the URLs that are not below one of the origins. What a page contains itself is no request.
export const strangers = (urls, ...origins) =>
	urls.filter(url => !origins.some(o => url.startsWith(o + '/')) && !/^(data|about):/.test(url))
