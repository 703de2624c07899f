// The request of a form, and the same request as code in curl, Go and TypeScript.

// inputsOf returns the inputs of a parameter: one, or one for each member of a deepObject. name is that in the URL.
function inputsOf(model, p) {
	if (p.content || p.style !== 'deepObject') return [{ p, name: p.name, label: p.name, schema: p.content ? undefined : p.schema ?? {} }]
	const leaves = (schema, name, label) => Object.entries(flatSchema(model, schema).properties ?? {}).flatMap(([key, s]) => {
		const inner = flatSchema(model, s), at = `${name}[${key}]`, text = label ? `${label}.${key}` : key
		return inner.properties ? leaves(s, at, text) : [{ p, name: at, label: text, schema: s }]
	})
	return leaves(p.schema, p.name, '')
}

// pairsOf returns the name=value pairs of an input in the query. Arrays are entered with commas.
function pairsOf(model, { p, name, schema }, value) {
	const list = schema && typesOf(flatSchema(model, schema))[0] === 'array'
	const reserved = v => encodeURIComponent(v).replace(/%(2C|5C)/g, c => decodeURIComponent(c))
	const encodedName = encodeURIComponent(name).replace(/%(5B|5D)/g, c => decodeURIComponent(c))
	if (!list) return [`${encodedName}=${encodeURIComponent(value)}`]
	if (p.explode === false || p.style === 'deepObject') return [`${encodedName}=${reserved(value)}`]
	return value.split(',').map(v => `${encodedName}=${encodeURIComponent(v.trim())}`)
}

// requestOf returns the request of a form. Header fields of the credentials are included.
function requestOf(model, op, form) {
	const query = [], headers = []
	let path = op.path
	for (const p of op.parameters) {
		for (const input of inputsOf(model, p)) {
			const value = form.values.get(`${p.in} ${input.name}`) ?? ''
			if (p.in === 'path') path = path.replace(`{${p.name}}`, value ? encodeURIComponent(value) : `{${p.name}}`)
			else if (value === '') continue
			else if (p.in === 'query') query.push(...pairsOf(model, input, value))
			else if (p.in === 'header') headers.push([p.name, value])
		}
	}
	if (form.accept) headers.push(['Accept', form.accept])
	const sends = op.body && form.media
	if (sends && form.media !== 'multipart/form-data') headers.push(['Content-Type', form.media.includes('*') ? form.file?.type || 'application/octet-stream' : form.media])
	const credential = credentialsOf(model, op)
	headers.push(...credential.headers)
	query.push(...credential.query)
	const url = form.server + path + (query.length ? '?' + query.join('&') : '')
	return { method: op.method, url, headers, media: sends && form.media, body: sends ? form.body : undefined, file: sends ? form.file : undefined }
}

const shellQuote = s => `'${s.replaceAll("'", "'\\''")}'`
const isFile = request => request.media && !isJSON(request.media) && !/^text\//.test(request.media) && !/ndjson|x-www-form/.test(request.media)

// curlSample returns the request as a command.
function curlSample(model, op, request) {
	const parts = ['curl ' + (/[[\]{}]/.test(request.url) ? '-g ' : '') + (request.method === 'GET' ? '' : `-X ${request.method} `) + shellQuote(request.url)]
	for (const [k, v] of request.headers) parts.push(`-H ${shellQuote(`${k}: ${v}`)}`)
	if (request.media === 'multipart/form-data') parts.push(`-F ${shellQuote(`file=@${request.file?.name ?? 'FILE'}`)}`)
	else if (isFile(request)) parts.push(`--data-binary ${shellQuote(`@${request.file?.name ?? 'FILE'}`)}`)
	else if (request.media) parts.push(`-d ${shellQuote(request.body ?? '')}`)
	if (request.headers.some(([, v]) => v === 'text/event-stream')) parts.splice(1, 0, '-N')
	return parts.join(' \\\n  ')
}

// successOf returns the response that a sample decodes: the first 2xx with JSON, and its schema.
function successOf(model, op) {
	const response = op.responses.filter(r => /^2/.test(r.status)).sort((a, b) => (a.status === '201') < (b.status === '201') ? 1 : -1)
		.find(r => Object.keys(r.content ?? {}).some(isJSON)) ?? op.responses.find(r => /^2/.test(r.status))
	const media = mediaTypes(response?.content).find(isJSON)
	const schema = media && response.content[media].schema
	return { status: response?.status ?? '200', schema, name: schema && model.nameOf(schema) || 'Result' }
}

const STATUS = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'NoContent', 206: 'PartialContent' }

// goSample returns the request as a function in Go.
function goSample(model, op, request) {
	const { status, schema, name } = successOf(model, op), stream = request.headers.some(([, v]) => v === 'text/event-stream')
	const decoded = schema && !stream && request.method !== 'HEAD', text = request.media && !isFile(request)
	const type = decoded ? goType(model, schema) : '', of = goName(name)
	const literal = s => s.includes('`') ? JSON.stringify(s) : '`' + s + '`'
	const body = !request.media ? 'nil' : text ? `strings.NewReader(${literal(request.body ?? '')})` : 'file'
	const imports = ['context', 'fmt', 'net/http', decoded && 'encoding/json', text && 'strings', request.media && !text && 'os', type.includes('time.Time') && 'time'].filter(Boolean).sort()
	const fail = decoded ? 'return nil, err' : 'return err', out = decoded ? `(*${of}, error)` : 'error'
	return [
		'package client', '', 'import (', ...imports.map(i => `\t"${i}"`), ')', '',
		...decoded ? [`type ${of} ${type}`, ''] : [],
		`func ${(n => n[0].toLowerCase() + n.slice(1))(goName(op.id)) || 'send'}(ctx context.Context) ${out} {`,
		...body === 'file' ? [`\tfile, err := os.Open(${JSON.stringify(request.file?.name ?? 'FILE')})`, '\tif err != nil {', `\t\t${fail}`, '\t}', '\tdefer file.Close()'] : [],
		`\treq, err := http.NewRequestWithContext(ctx, ${JSON.stringify(request.method)},`, `\t\t${JSON.stringify(request.url)}, ${body})`,
		'\tif err != nil {', `\t\t${fail}`, '\t}',
		...request.headers.map(([k, v]) => `\treq.Header.Set(${JSON.stringify(k)}, ${literal(v)})`),
		'\tresp, err := http.DefaultClient.Do(req)', '\tif err != nil {', `\t\t${fail}`, '\t}', '\tdefer resp.Body.Close()',
		`\tif resp.StatusCode != ${STATUS[status] ? `http.Status${STATUS[status]}` : status} {`,
		decoded ? '\t\treturn nil, fmt.Errorf("status %s", resp.Status)' : '\t\treturn fmt.Errorf("status %s", resp.Status)', '\t}',
		...decoded ? [`\tvar out ${of}`, '\tif err := json.NewDecoder(resp.Body).Decode(&out); err != nil {', '\t\treturn nil, err', '\t}', '\treturn &out, nil'] : ['\treturn nil'],
		'}',
	].join('\n')
}

// tsSample returns the request as a function in TypeScript.
function tsSample(model, op, request) {
	const { schema, name } = successOf(model, op), stream = request.headers.some(([, v]) => v === 'text/event-stream'), decoded = schema && !stream
	const of = goName(name), string = s => JSON.stringify(s)
	let body = null
	if (request.media === 'multipart/form-data') body = 'form'
	else if (isFile(request)) body = 'file'
	else if (request.media) {
		try {
			if (/\d{16}/.test(request.body ?? '')) throw new Error('numbers would be rounded')
			body = `JSON.stringify(${JSON.stringify(JSON.parse(request.body), null, 2).replaceAll('\n', '\n    ')})`
			if (!isJSON(request.media)) body = string(request.body)
		} catch {
			body = string(request.body ?? '')
		}
	}
	const argument = body === 'form' ? 'form: FormData' : body === 'file' ? 'file: Blob' : ''
	return [
		...decoded ? [`type ${of} = ${tsType(model, schema, true)};`, ''] : [],
		`async function ${(n => n[0].toLowerCase() + n.slice(1))(goName(op.id) || 'send')}(${argument}): Promise<${decoded ? of : stream ? 'Response' : 'void'}> {`,
		`  const response = await fetch(${string(request.url)}, {`,
		`    method: ${string(request.method)},`,
		...request.headers.length ? ['    headers: {', ...request.headers.map(([k, v]) => `      ${/^[A-Za-z]+$/.test(k) ? k : string(k)}: ${string(v)},`), '    },'] : [],
		...body ? [`    body: ${body === 'form' || body === 'file' ? body : body},`] : [],
		'  });',
		'  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);',
		...decoded ? [`  return (await response.json()) as ${of};`] : stream ? ['  return response;'] : [],
		'}',
	].join('\n')
}

const SAMPLES = { curl: curlSample, Go: goSample, TypeScript: tsSample }
