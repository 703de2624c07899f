// Starts Chromium for the checks that .ci/clients/run runs, prints its address, and ends it with SIGTERM.
import { launch } from './chromium.mjs'

const { browser, close } = await launch({ handleSIGTERM: false })
process.once('SIGTERM', close)
browser.once('disconnected', () => { process.exitCode = 1 })
console.log(`Chromium is listening on ${browser.wsEndpoint()}`)
