// Records .github/images/live.svg: a terminal beside the shop's page, for 12 seconds.
//
//   node record.mjs SHOP FILE [FOLDER]    SHOP is the program; FOLDER gets pictures of the result
//
// The commands are run, and their output and the page are those of this run. Only the port is replaced. Each picture of the page is taken when the page shows the change, and the file shows it half a second
// after the command.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ownAddress, startShop } from '../shop/shop.mjs'
import { launch } from './chromium.mjs'

const [program, file, pictures] = process.argv.slice(2)
const SECONDS = 12, LIMIT = 2 << 20
const WIDTH = 1240, HEIGHT = 530, LEFT = 540, BAR = 30, LINE = 19, COLUMNS = 63, CHARACTER = 8

const json = `-H 'Content-Type: application/json'`
const pay = flags => `curl -s${flags} -X PATCH $SHOP/orders/4 \\
    -H 'Content-Type: application/merge-patch+json' \\
    -H 'Idempotency-Key: "k1"' -d '{"status":"paid"}'`

// Each step is a command and when it is shown. change means that the page has to report a change.
const steps = [
	{ at: 1.2, change: true, run: `curl -s $SHOP/orders \\
    ${json} \\
    -d '{"customerId":2,"lines":[{"itemId":7,"qty":2}]}'` },
	{ at: 3.4, change: true, run: pay('') },
	{ at: 5.6, note: '# a retry with the same key changes nothing', run: pay('i') + ' |\n    grep -i replayed' },
	{ at: 7.8, run: `curl -s $SHOP/graphql \\
    ${json} -d '{"query":
    "{orders(filter:{id:{eq:4}}){nodes{customer{email}}}}"}'` },
	{ at: 9.8, change: true, run: `curl -s -X DELETE $SHOP/orders/4 -w '%{http_code}\\n'` },
]

const shop = await startShop(program, ownAddress, ['-now', '2026-12-01T09:00:00Z'])
const { browser, close } = await launch()
try {
	const page = await browser.newPage()
	await page.setViewport({ width: WIDTH - LEFT, height: HEIGHT - BAR, deviceScaleFactor: 2 })
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }, { name: 'prefers-reduced-motion', value: 'reduce' }])
	await page.goto(shop.url)
	await page.waitForSelector('#state.live')
	await page.evaluate(() => document.querySelector('main').scrollIntoView())
	const shots = [{ at: 0.6, image: await shot(page) }]
	const lines = [{ at: 0, text: '$ go run -C examples ./shop', kind: 'command' },
		{ at: 0.6, text: 'shop: listening on http://localhost:8080' }]
	for (const step of steps) {
		if (step.note) lines.push({ at: step.at, text: step.note, kind: 'note' })
		lines.push(...wrap(step.run.replaceAll('$SHOP', 'localhost:8080'), step.at, 'command'))
		const before = await changes(page)
		const { stdout } = await promisify(execFile)('bash', ['-c', step.run], { env: { ...process.env, SHOP: shop.url } })
		lines.push(...wrap(stdout.trimEnd(), step.at + 0.4))
		if (!step.change) continue
		await page.waitForFunction(n => document.querySelectorAll('#changes li').length > n, {}, before)
		await page.waitForFunction(() => document.querySelector('#state.live'))
		shots.push({ at: step.at + 0.5, image: await shot(page) })
	}
	writeFileSync(file, svg(lines, shots))
	assert.ok(statSync(file).size < LIMIT, `${file} has ${statSync(file).size} bytes`)
	if (pictures) await look(browser)
	console.log(`${file}: ${statSync(file).size} bytes, ${shots.length} pictures of the page`)
} finally {
	await close()
	shop.kill('SIGTERM')
	await shop.exited
}

// changes returns how many changes the page has reported.
async function changes(page) { return page.evaluate(() => document.querySelectorAll('#changes li').length) }

async function shot(page) { return page.screenshot({ type: 'webp', quality: 80, encoding: 'base64' }) }

// wrap cuts a text into lines of the terminal.
function wrap(text, at, kind) {
	const lines = text.split('\n').map((line, i) => kind === 'command' && i === 0 ? '$ ' + line : line)
	return lines.flatMap(line => line.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? ['']).map(text => ({ at, text, kind }))
}

// svg returns the recording. Each line and picture appears at its time and stays until the end. Without animations
// the end is shown.
function svg(lines, shots) {
	const escape = s => s.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
	const times = [...new Set([...lines, ...shots].map(x => x.at))].sort((a, b) => a - b)
	const name = at => 't' + times.indexOf(at)
	const frames = times.map(at => {
		const percent = (100 * at / SECONDS).toFixed(2)
		return at === 0 ? '' : `@keyframes ${name(at)} { 0% { opacity: 0 } ${percent}% { opacity: 1 } }\n.${name(at)} { animation: ${name(at)} ${SECONDS}s step-end infinite }`
	}).filter(Boolean).join('\n')
	const text = lines.map(({ at, text, kind }, i) =>
		`<text class="${name(at)} ${kind ?? 'output'}" x="16" y="${BAR + 24 + i * LINE}" textLength="${text.length * CHARACTER}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">${escape(text)}</text>`)
	const images = shots.map(({ at, image }) =>
		`<image class="${name(at)}" x="${LEFT}" y="${BAR}" width="${WIDTH - LEFT}" height="${HEIGHT - BAR}" href="data:image/webp;base64,${image}"/>`)
	return `<!-- Generated by .ci/clients/run record. Do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">Commands in a terminal create, change and delete an order, and the page of the shop shows each change</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d8d2c6 }
.command { fill: #fff } .note { fill: #9fc59f }
.label { font: 12px system-ui, sans-serif; fill: #6f6655 }
${frames}
@media (prefers-reduced-motion: reduce) { text, image { animation: none !important } }
</style>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#211e19"/>
<rect x="${LEFT}" width="${WIDTH - LEFT}" height="${HEIGHT}" fill="#fbf8f3"/>
<rect x="${LEFT}" width="${WIDTH - LEFT}" height="${BAR}" fill="#e6dfd2"/>
<text class="label" x="${LEFT + 16}" y="20">http://localhost:8080</text>
${text.join('\n')}
${images.join('\n')}
</svg>
`
}

// look takes pictures of the recording at some of its times.
async function look(browser) {
	const page = await browser.newPage()
	await page.setViewport({ width: WIDTH, height: HEIGHT })
	await page.setContent(`<body style="margin:0">${readFileSync(file, 'utf8')}</body>`)
	for (const seconds of [0.3, 2.5, 4.5, 6.5, 11.5]) {
		await page.evaluate(at => {
			for (const a of document.getAnimations()) { a.pause(); a.currentTime = at * 1000 }
		}, seconds)
		await page.screenshot({ path: join(pictures, `record-${seconds}.png`) })
	}
}
