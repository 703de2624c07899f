// Compares what the decoder decides about values with what ajv finds in the documents of their types. ajv compiles patterns
// with the flag u, and refuses a schema with a pattern that is no ECMA-262.
//
//   node agree.mjs FILE    which TestDecoderAgrees of resource/openapi has written: values, and then a line for each type
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Ajv2020 } from 'ajv/dist/2020.js'

// The formats of numbers, which may be in strings, and of bytes. Those of other texts are annotations.
const inRange = (n, low, high) => n >= low && n < high
const formats = {
	double: v => Number.isFinite(Number(v)),
	float: v => Number.isFinite(Math.fround(Number(v))),
	byte: v => typeof v !== 'string' || /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(v),
}
for (const bits of [8, 16, 32, 64]) {
	const size = 2n ** BigInt(bits)
	const whole = v => typeof v === 'string' ? /^-?[0-9]+$/.test(v) : Number.isInteger(v)
	formats[`int${bits}`] = v => whole(v) && inRange(BigInt(v), -size / 2n, size / 2n)
	formats[`uint${bits}`] = v => whole(v) && inRange(BigInt(v), 0n, size)
}
const ajv = new Ajv2020({ strict: false, logger: false })
ajv.removeKeyword('format')
ajv.addKeyword({ keyword: 'format', type: ['number', 'string'], validate: (name, v) => formats[name]?.(v) ?? true })

let values
const counts = { types: 0, compared: 0, words: 0 }
for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
	if (!values) {
		values = JSON.parse(line)
		continue
	}
	const { schema, valid } = JSON.parse(line)
	const accepts = ajv.compile(schema)
	counts.types++
	valid.forEach((want, i) => {
		// The document states it in words, or JavaScript rounds the number.
		if (want === null || /[0-9]{16}/.test(values[i].replace(/"[^"]*"/g, ''))) {
			counts.words++
			return
		}
		counts.compared++
		if (accepts(JSON.parse(values[i])) !== want) {
			console.error(`${values[i]} is ${want ? 'accepted' : 'rejected'} by the decoder only: ${JSON.stringify(schema)}`)
			process.exitCode = 1
		}
	})
	ajv.removeSchema(schema) // from the cache
}
console.log(JSON.stringify(counts))
if (counts.types < 2000 || counts.compared < 100 * counts.types) process.exitCode = 1
