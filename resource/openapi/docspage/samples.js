// A request as code in curl, Go and TypeScript.
import { decode, encode } from '../../httpbody/page/jsonvalue.js'
import { goName, goType, tsType } from './code.js'
import { isJSON, mediaTypes, nameOf } from './model.js'
import { isFile } from './request.js'
/** @import { Model, Operation, Request } from './types' */

const shellQuote = (/** @type {string} */ s) => `'${s.replaceAll("'", "'\\''")}'`
const streams = (/** @type {Request} */ request) => request.headers.some(([, v]) => v === 'text/event-stream')

/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Request} request
 */
function curlSample(model, op, request) {
	const literal = /[[\]{}]/.test(request.url) ? '-g ' : ''
	const method = request.method === 'GET' ? '' : `-X ${request.method} `
	const parts = ['curl ' + literal + method + shellQuote(request.url)]
	if (streams(request)) parts.push('-N')
	for (const [k, v] of request.headers) parts.push(`-H ${shellQuote(`${k}: ${v}`)}`)
	const file = request.file?.name ?? 'FILE'
	if (request.media === 'multipart/form-data') parts.push(`-F ${shellQuote(`file=@${file}`)}`)
	else if (isFile(request.media)) parts.push(`--data-binary ${shellQuote(`@${file}`)}`)
	else if (request.media) parts.push(`-d ${shellQuote(request.body ?? '')}`)
	return parts.join(' \\\n  ')
}

// successOf returns the response that a sample decodes: the first 2xx with JSON, and its schema.
/** @param {Operation} op */
function successOf(op) {
	const good = op.responses.filter(r => /^2/.test(r.status))
	const response = [...good].sort((a, b) => (a.status === '201') < (b.status === '201') ? 1 : -1)
		.find(r => Object.keys(r.content ?? {}).some(isJSON)) ?? good[0]
	const media = mediaTypes(response?.content).find(isJSON)
	const schema = media ? response?.content?.[media].schema : undefined
	return { status: response?.status ?? '200', schema, name: schema && nameOf(schema) || 'Result' }
}

/** @type {Record<string, string>} */
const STATUS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'NoContent', 206: 'PartialContent' }

/** @param {Operation} op */
function functionName(op) {
	const name = goName(op.id) || 'send'
	return name[0].toLowerCase() + name.slice(1)
}

/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Request} request
 */
function goSample(model, op, request) {
	const { status, schema, name } = successOf(op), of = goName(name)
	const decodes = !streams(request) && request.method !== 'HEAD' ? schema : undefined
	const type = decodes ? goType(model, decodes) : ''
	const quote = JSON.stringify
	const literal = (/** @type {string} */ s) => s.includes('`') ? quote(s) : '`' + s + '`'
	const opens = isFile(request.media), text = request.media && !opens
	const body = opens ? 'file' : text ? `strings.NewReader(${literal(request.body ?? '')})` : 'nil'
	const imports = [
		'context', 'fmt', 'net/http', decodes && 'encoding/json', text && 'strings', opens && 'os',
		type.includes('time.Time') && 'time',
	].filter(Boolean).sort()
	const fail = decodes ? 'return nil, ' : 'return ', failed = ['\tif err != nil {', `\t\t${fail}err`, '\t}']
	return [
		'package client', '', 'import (', ...imports.map(i => `\t"${i}"`), ')', '',
		...decodes ? [`type ${of} ${type}`, ''] : [],
		`func ${functionName(op)}(ctx context.Context) ${decodes ? `(*${of}, error)` : 'error'} {`,
		...opens ? [`\tfile, err := os.Open(${quote(request.file?.name ?? 'FILE')})`, ...failed,
			'\tdefer file.Close()'] : [],
		`\treq, err := http.NewRequestWithContext(ctx, ${quote(request.method)},`,
		`\t\t${quote(request.url)}, ${body})`, ...failed,
		...request.headers.map(([k, v]) => `\treq.Header.Set(${quote(k)}, ${literal(v)})`),
		'\tresp, err := http.DefaultClient.Do(req)', ...failed, '\tdefer resp.Body.Close()',
		`\tif resp.StatusCode != ${STATUS[status] ? `http.Status${STATUS[status]}` : status} {`,
		`\t\t${fail}fmt.Errorf("status %s", resp.Status)`, '\t}',
		...decodes ? [`\tvar out ${of}`, '\tif err := json.NewDecoder(resp.Body).Decode(&out); err != nil {',
			'\t\treturn nil, err', '\t}', '\treturn &out, nil'] : ['\treturn nil'],
		'}',
	].join('\n')
}

// tsBody returns the expression of a request body, '' if there is none. It is a text if JavaScript would
// change a number.
/** @param {Request} request */
function tsBody(request) {
	if (request.media === 'multipart/form-data') return 'form'
	if (isFile(request.media)) return 'file'
	if (!request.media) return ''
	const body = request.body ?? ''
	try {
		const value = JSON.stringify(JSON.parse(body), null, 2), kept = value === encode(decode(body), '  ')
		if (kept && isJSON(request.media)) return `JSON.stringify(${value.replaceAll('\n', '\n    ')})`
	} catch {
		// It is not JSON.
	}
	return JSON.stringify(body)
}

/**
 * @param {Model} model
 * @param {Operation} op
 * @param {Request} request
 */
function tsSample(model, op, request) {
	const { schema, name } = successOf(op), of = goName(name), stream = streams(request)
	const decodes = stream ? undefined : schema, quote = JSON.stringify, body = tsBody(request)
	const argument = body === 'form' ? 'form: FormData' : body === 'file' ? 'file: Blob' : ''
	const result = decodes ? of : stream ? 'Response' : 'void'
	const key = (/** @type {string} */ k) => /^[A-Za-z]+$/.test(k) ? k : quote(k)
	const headers = request.headers.map(([k, v]) => `      ${key(k)}: ${quote(v)},`)
	return [
		...decodes ? [`type ${of} = ${tsType(model, decodes, true)};`, ''] : [],
		`async function ${functionName(op)}(${argument}): Promise<${result}> {`,
		`  const response = await fetch(${quote(request.url)}, {`,
		`    method: ${quote(request.method)},`,
		...headers.length ? ['    headers: {', ...headers, '    },'] : [],
		...body ? [`    body: ${body},`] : [],
		'  });',
		'  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);',
		...decodes ? [`  return (await response.json()) as ${of};`] : stream ? ['  return response;'] : [],
		'}',
	].join('\n')
}

export const SAMPLES = { curl: curlSample, Go: goSample, TypeScript: tsSample }
