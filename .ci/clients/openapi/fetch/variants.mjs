// Validates variants of a document with the schemas of the OpenAPI Initiative, and compares YAML with JSON.
//
//   node variants.mjs FOLDER    which has the files NAME-VERSION.json, and NAME.yaml beside NAME-3.1.json
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import YAML from 'yaml'

const folder = process.argv[2]
const read = name => readFileSync(join(folder, name), 'utf8')
const validate = async document => {
	const validator = new Validator()
	return { ...await validator.validate(document), version: validator.version }
}
const counts = { json: 0, yaml: 0 }
for (const name of readdirSync(folder)) {
	const [, base, version] = /^(.*?)(?:-(3\.\d))?\.(?:json|yaml)$/.exec(name)
	if (name.endsWith('.yaml')) {
		for (const spec of ['1.1', '1.2']) {
			assert.deepEqual(YAML.parse(read(name), { version: spec }), JSON.parse(read(`${base}-3.1.json`)), `${name} as YAML ${spec}`)
		}
		counts.yaml++
		continue
	}
	const document = JSON.parse(read(name))
	const result = await validate(document)
	assert.deepEqual([result.valid, result.version], [true, version], `${name}: ${JSON.stringify(result.errors)}`)
	assert.ok(document.openapi.startsWith(`${version}.`), `${name} is ${document.openapi}`)
	// What the schema has to object to.
	delete Object.values(document.paths)[0].get.responses
	document.paths.orders = {}
	assert.equal((await validate(document)).valid, false, `${name}: a path without a slash is valid`)
	counts.json++
}
assert.ok(counts.json >= 6 && counts.yaml >= 2, JSON.stringify(counts))
console.log(`${counts.json} documents are valid, ${counts.yaml} are the same in YAML`)
