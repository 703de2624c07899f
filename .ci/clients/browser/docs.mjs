// The page /docs of the shop in Chromium, for each contract of which the shop has an OpenAPI document: it shows every
// operation of the document, the browser reports no error, and nothing is requested from another host.
//
//   node docs.mjs URL [FOLDER]    FOLDER receives screenshots
//
// The requests are those of the browser's network log, which also has WebSockets and requests of workers.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, strangers } from './chromium.mjs'

const [url, pictures] = process.argv.slice(2)
const logs = mkdtempSync(join(tmpdir(), 'docs-'))

// requested returns the URLs that pages requested, from a network log. Requests of the browser itself, such as for the
// time, have no origin.
const requested = file => readFileSync(file, 'utf8').split('\n')
	.filter(line => /"initiator":"(?!not an origin")/.test(line)).map(line => /"url":"([^"]*)"/.exec(line)?.[1]).filter(Boolean)

// open visits a page with a new browser and calls look. It returns the requests and the messages of the console.
async function open(name, visit) {
	const file = join(logs, `${name}.json`), messages = []
	const { browser, close } = await launch(`--log-net-log=${file}`, '--window-size=1280,2400')
	try {
		const page = await browser.newPage()
		page.setDefaultTimeout(300_000)
		await page.setViewport({ width: 1280, height: 2400 })
		page.on('console', m => messages.push(`${m.type()}: ${m.text()}`))
		page.on('pageerror', e => messages.push(`error: ${e.message}`))
		await visit(page)
	} finally {
		await close()
	}
	return { asked: requested(file), messages }
}

async function look(contract) {
	const source = `${url}/openapi/${contract}.json`
	const document = await (await fetch(source)).text()
	const operations = [...document.matchAll(/"operationId": *"([^"]*)"/g)].map(m => m[1])
	assert.ok(operations.length, `${contract} has no operations`)
	const { asked, messages } = await open(contract, async page => {
		await page.goto(`${url}/docs?urls.primaryName=${contract}`, { waitUntil: 'networkidle0' })
		await page.waitForFunction(n => document.querySelectorAll('[id^="operations-"]').length >= n, {}, operations.length)
			.catch(() => {}) // the assertion below names the operations that are missing
		const shown = await page.$$eval('[id^="operations-"]', all => all.map(e => e.id))
		assert.deepEqual(operations.filter(o => !shown.some(id => id.endsWith(`-${o}`))), [], `${contract}: operations that are not shown`)
		const versions = await page.$$eval('.version', all => all.map(e => e.textContent))
		assert.ok(versions.some(v => v.includes(contract)), `another contract is shown: ${versions}`)
		if (pictures) await page.screenshot({ path: join(pictures, `docs-${contract}.png`) })
	})
	assert.deepEqual(messages.filter(m => /Content Security Policy|Refused|rror/.test(m)), [], `${contract}: the browser reports errors`)
	assert.ok(asked.includes(source), `${contract}: its document was not requested`)
	assert.deepEqual(strangers(asked, url), [], `${contract}: requests to other hosts`)
	console.log(`ok    docs: ${contract}: ${operations.length} operations shown, no other host requested`)
}

try {
	const control = await open('control', page => page.setContent('<!doctype html><img src="http://elsewhere.example/pixel.gif">'))
	assert.deepEqual(strangers(control.asked, url), ['http://elsewhere.example/pixel.gif'])
	assert.ok(control.messages.some(m => /rror/.test(m)), 'the image that cannot be loaded is an error')
	console.log('ok    docs: a page that requests another host is detected')
	const index = await (await fetch(`${url}/openapi`)).text()
	const contracts = [...index.matchAll(/\/openapi\/([0-9.]*)\.json/g)].map(m => m[1])
	assert.ok(contracts.length >= 3, `there are fewer than three contracts: ${contracts}`)
	for (const contract of contracts) await look(contract)
} finally {
	rmSync(logs, { recursive: true, force: true })
}
