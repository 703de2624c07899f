// Chromium for the checks in this folder: a new profile, and no host but this machine.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer from 'puppeteer-core'

// launch starts the browser. folder is a temporary folder that close removes.
export async function launch(...args) {
	const folder = mkdtempSync(join(tmpdir(), 'browser-'))
	const browser = await puppeteer.launch({
		executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, userDataDir: join(folder, 'profile'),
		timeout: 300_000, protocolTimeout: 600_000,
		args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-pings',
			'--disable-background-networking', '--disable-component-update', '--disable-default-apps', '--disable-extensions',
			'--disable-sync', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*', ...args],
	})
	const close = async () => {
		await browser.close()
		rmSync(folder, { recursive: true, force: true, maxRetries: 50 }) // the browser's processes may still write there
	}
	return { browser, folder, close }
}

// strangers returns the URLs that are not below one of the origins. What a page contains itself is no request.
export const strangers = (urls, ...origins) =>
	urls.filter(url => !origins.some(o => url.startsWith(o + '/')) && !/^(data|about):/.test(url))
