// What a caller gets from a server that redirects, hangs, sends HTML, expires cursors or closes a connection in the middle of a
// response: run by node --test. The servers are real, except where time passes: there fetch is a function, and time is that of
// mock.timers, so that a slow machine changes nothing.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import test, { mock } from 'node:test';
import { Client } from '@stoa-go/client';

const item = '{"id":"1","count":1}', page = `{"items":[${item}]}`;
const created = (cursor, count) => `id: ${cursor}\nevent: created\ndata: {"id":"1","count":${count}}\n\n`;

// A response is a function of the request, the response and the number of the request, from 1.
const content = (type, text, headers = {}) => (_, response) => response.writeHead(200, { 'Content-Type': type, 'Event-Cursor': 'c1', ...headers }).end(text);
const redirect = (status, from, to) => (request, response) => (request.url === from
	? response.writeHead(status, { Location: to }).end() : response.end(item));
const cut = (type, text) => (_, response) => response.writeHead(200, { 'Content-Type': type }).write(text, () => response.destroy());
const open = (text) => (_, response) => response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text);
const inTurn = (...list) => (request, response, n) => list[Math.min(n, list.length) - 1](request, response, n);
const html = content('text/html', '<html>');

// record returns a function that adds a request to sent: its line, the number of its key, and its cursor.
function record(sent) {
	const keys = [];
	return (method, url, header) => {
		const key = header('Idempotency-Key'), cursor = header('Last-Event-ID');
		if (key && !keys.includes(key)) keys.push(key);
		return sent.push(`${method} ${url}${key ? ` key ${keys.indexOf(key) + 1}` : ''}${cursor ? ` after ${cursor}` : ''}`);
	};
}

// serve returns the URL of a server and its requests.
async function serve(t, respond) {
	const sent = [], add = record(sent);
	const server = createServer((request, response) => {
		request.resume().on('end', () => respond(request, response, add(request.method, request.url, (name) => request.headers[name.toLowerCase()])));
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	return { url: `http://127.0.0.1:${server.address().port}`, sent };
}

// The calls return what the caller gets.
const orders = (api) => api.resource('orders');
const get = (id) => async (api) => (await orders(api).get(id)).value;
const list = (query) => async (api) => {
	const all = [];
	for await (const order of orders(api).list(query)) all.push(order);
	return all;
};
const brief = (change) => [change.kind, change.value?.count].filter((part) => part !== undefined).join(' ');
const follow = (cursor, count, signal) => async (api) => {
	const changes = [];
	try {
		for await (const change of orders(api).follow({}, { ...(cursor && { cursor }), ...(signal && { signal }) })) {
			if (changes.push(brief(change)) === count) break;
		}
	} catch (err) {
		changes.push(err.message);
	}
	return changes.join(', ');
};
const writes = (id) => ({
	'POST /orders': (api) => orders(api).create({ count: 1 }),
	[`PUT /orders/${id}`]: (api) => orders(api).replace(id, { count: 1 }),
	[`PATCH /orders/${id}`]: (api) => orders(api).patch(id, { count: 2 }, { tag: '"1.a"' }),
	[`DELETE /orders/${id}`]: (api) => orders(api).delete(id),
	'POST /orders/cancel-stale': (api) => api.call('orders/cancel-stale'),
});
const create = async (api) => (await writes('1')['POST /orders'](api)).value;
const stored = JSON.parse(item), notJSON = 'the response (text/html) is not JSON';

const situations = [
	{ name: 'a read is redirected', respond: redirect(302, '/orders/1', '/v2/orders/1'), call: get(1), want: stored, sent: ['GET /orders/1', 'GET /v2/orders/1'] },
	{
		name: 'a read by QUERY is redirected', respond: redirect(303, '/orders', '/login'), call: list({ note: 'x'.repeat(5000) }),
		want: 'QUERY /orders: the 303 redirect to /login is not followed', sent: ['QUERY /orders'],
	},
	{ name: 'a write is redirected with its method', respond: redirect(308, '/orders', '/v2/orders'), call: create, want: stored, sent: ['POST /orders key 1', 'POST /v2/orders key 1'] },
	{
		name: 'a write is redirected to another host', respond: redirect(308, '/orders', 'http://other.invalid/orders'), call: create,
		want: 'POST /orders: the 308 redirect to http://other.invalid/orders is not followed', sent: ['POST /orders key 1'],
	},
	{
		name: 'a write is redirected without end', respond: redirect(307, '/orders', '/orders'), call: create,
		want: 'POST /orders: the 307 redirect to /orders is not followed', sent: Array(11).fill('POST /orders key 1'),
	},
	...[301, 302, 303].flatMap((status) => Object.entries(writes('1')).map(([line, call]) => ({
		name: `${line} is redirected by ${status}`, respond: redirect(status, line.split(' ')[1], '/login'), call,
		want: `${line}: the ${status} redirect to /login is not followed`, sent: [`${line} key 1`],
	}))),
	...Object.entries(writes('1')).map(([line, call]) => ({ name: `a page of HTML for ${line}`, respond: html, call, want: `${line}: ${notJSON}`, sent: [`${line} key 1`] })),
	{ name: 'a page of HTML for an item', respond: html, call: get(1), want: `GET /orders/1: ${notJSON}`, sent: ['GET /orders/1'] },
	{ name: 'a page of HTML for a list', respond: html, call: list({}), want: `GET /orders: ${notJSON}`, sent: ['GET /orders'] },
	{ name: 'a page of HTML for the list of follow', respond: html, call: follow('', 9), want: `reset, GET /orders: ${notJSON}`, sent: ['GET /orders'] },
	{ name: 'a page of HTML for a stream', respond: html, call: follow('c1', 9), want: 'GET /orders: the response (text/html) is no stream of events', sent: ['GET /orders after c1'] },
	{ name: 'a stream without content', respond: (_, response) => response.writeHead(204).end(), call: follow('c1', 9), want: 'GET /orders: 204', sent: ['GET /orders after c1'] },
	{ name: 'a read is closed in the middle', respond: inTurn(cut('application/json', '{"id"'), content('application/json', item)), call: get(1), want: stored, sent: ['GET /orders/1', 'GET /orders/1'] },
	{
		name: 'a write is closed in the middle', respond: inTurn(cut('application/json', '{"id"'), content('application/json', item)), call: create,
		want: stored, sent: ['POST /orders key 1', 'POST /orders key 1'],
	},
	{
		name: 'a stream is closed in the middle of an event',
		respond: inTurn(cut('text/event-stream', created('c2', 2) + 'id: c3\nevent: created\ndata: {'), open(created('c3', 3))), call: follow('c1', 2),
		want: 'created 2, created 3', sent: ['GET /orders after c1', 'GET /orders after c2'],
	},
	...['', '.', '..'].flatMap((id) => [[`GET /orders/${id}`, get(id)], ...Object.entries(writes(id)).filter(([line]) => line.endsWith('/' + id))]
		.map(([line, call]) => ({ name: `${line} of the id '${id}'`, respond: html, call, want: `${line}: "${id}" is not an id or a name`, sent: [] }))),
	{ name: 'a command with an empty name', respond: html, call: (api) => api.call(''), want: 'POST /: "" is not an id or a name', sent: [] },
];

for (const { name, respond, call, want, sent } of situations) {
	test(name, async (t) => {
		const server = await serve(t, respond);
		const got = await call(new Client(server.url, { maxWait: 1 })).catch((err) => err.message);
		assert.deepEqual(got, want);
		assert.deepEqual(server.sent, sent);
	});
}

// inTime returns the result of run. While run waits for setTimeout, time advances.
async function inTime(run) {
	mock.timers.enable({ apis: ['setTimeout'] });
	let ended = false;
	const end = () => { ended = true; };
	try {
		const result = run();
		result.then(end, end);
		while (!ended) {
			for (let i = 0; i < 5; i++) await new Promise((resolve) => { setImmediate(resolve); }); // all that does not wait for time
			mock.timers.tick(50);
		}
		return await result;
	} finally {
		mock.timers.reset();
	}
}

// local returns a client with the default options of a fetch without a network, and the requests.
function local(...replies) {
	const sent = [], add = record(sent);
	const fetch = async (url, init) => replies[Math.min(add(init.method, new URL(url).pathname, (name) => init.headers[name]), replies.length) - 1](init);
	return { api: new Client('http://api', { fetch }), sent };
}

// hangs is a response that does not begin, and stream one that does not end.
const hangs = ({ signal }) => new Promise((_, reject) => { signal?.addEventListener('abort', () => reject(signal.reason)); });
const stream = (text) => ({ signal }) => new Response(new ReadableStream({
	start(c) {
		c.enqueue(new TextEncoder().encode(text));
		signal.addEventListener('abort', () => c.error(signal.reason));
	},
}), { headers: { 'Content-Type': 'text/event-stream' } });
const reply = (text, headers) => () => new Response(text, { headers: { 'Content-Type': 'application/json', 'Event-Cursor': 'c1', ...headers } });

test('follow: the list hangs before it begins and in the middle, and the stream before it begins and after an event', async () => {
	const { api, sent } = local(hangs, stream('{"items"'), reply(page), hangs, stream(created('c2', 2)), stream(created('c3', 3)));
	assert.equal(await inTime(() => follow('', 5)(api)), 'reset, listed 1, bookmark, created 2, created 3');
	assert.deepEqual(sent, ['GET /orders', 'GET /orders', 'GET /orders', 'GET /orders after c1', 'GET /orders after c1', 'GET /orders after c2']);
});

test('a read hangs until its signal aborts', async () => {
	const { api, sent } = local(hangs);
	const abort = new AbortController();
	await assert.rejects(inTime(() => {
		setTimeout(() => abort.abort(new Error('enough')), 60_000);
		return orders(api).get(1, { signal: abort.signal });
	}), /enough/);
	assert.deepEqual(sent, ['GET /orders/1']);
});

for (const [name, expired] of [
	['before the stream', () => new Response('{"type":"https://x/cursor-expired"}', { status: 410, headers: { 'Content-Type': 'application/problem+json' } })],
	['in the stream', stream('id: expired\n\n')],
	['after a bookmark', stream('id: c2\n\nid: expired\n\n')],
]) {
	test(`follow lists again after a delay while each cursor has expired ${name}`, async () => {
		const { api, sent } = local((init) => (init.headers['Last-Event-ID'] ? expired(init) : reply(page)(init)));
		const abort = new AbortController();
		const got = await inTime(() => {
			setTimeout(() => abort.abort(new Error('enough')), 2000);
			return follow('', -1, abort.signal)(api);
		});
		assert.match(got, /^(reset, listed 1, bookmark, (bookmark, )?){2}.*enough$/);
		assert.ok(sent.length <= 2 * 41, `${sent.length} requests in 2 s, want two for each list, with 50 ms or more before the next`);
	});
}

for (const [at, want] of [
	['listed 1', 'reset, listed 1, enough'], ['bookmark', 'reset, listed 1, bookmark, enough'], ['created 2', 'reset, listed 1, bookmark, created 2, enough'],
]) {
	test(`follow ends if its signal aborts at ${at}`, async () => {
		const { api } = local(reply(page), stream(created('c2', 2) + created('c3', 3)));
		const abort = new AbortController(), got = [];
		await inTime(async () => {
			for await (const change of orders(api).follow({}, { signal: abort.signal })) {
				if (got.push(brief(change)) === 9) return;
				if (got.at(-1) === at) abort.abort(new Error('enough'));
			}
		}).catch((err) => got.push(err.message));
		assert.equal(got.join(', '), want);
	});
}

test('a fetch without streams', async () => {
	const { api, sent } = local(() => ({ status: 200, ok: true, headers: new Headers({ 'Content-Type': 'text/event-stream' }) }));
	assert.equal(await follow('c1', 9)(api), 'GET /orders: the response has no body to read; follow needs a fetch with streams');
	assert.equal(sent.length, 1);
});

test('a write is redirected in a browser, which does not reveal the status code', async () => {
	const { api, sent } = local(() => ({ type: 'opaqueredirect', status: 0, ok: false, headers: new Headers(), body: null }));
	await assert.rejects(orders(api).create({}), { message: 'POST /orders: the opaque redirect to another URL is not followed' });
	assert.equal(sent.length, 1);
});

test('an error of headers is that of the caller', async () => {
	const api = new Client('http://api', { headers: async () => { throw new Error('no token'); }, fetch: async () => assert.fail('sent') });
	assert.equal(await follow('c1', 9)(api), 'no token');
	await assert.rejects(orders(api).get(1), { message: 'no token' });
});

test('what fetch refuses is not repeated', async () => {
	for (const base of ['localhost:8080', 'ftp://shop', 'http://', 'http://%zz', 'http://shop?version=2', 'http://shop#x']) {
		assert.throws(() => new Client(base), TypeError, base);
	}
	for (const [base, headers] of [['/v2', {}], ['http://user:secret@127.0.0.1', {}], ['http://127.0.0.1', { Authorization: 'a\nb' }]]) {
		let calls = 0;
		const api = new Client(base, { headers, fetch: (url, init) => { calls++; return fetch(url, init); } });
		await assert.rejects(orders(api).get(1), TypeError, base);
		assert.equal(calls, 1, base);
	}
});

test('parameters', async () => {
	let parameters;
	const api = new Client('http://api', { fetch: async (url) => { parameters = new URL(url).searchParams; return reply('{"items":[]}')(); } });
	const sent = async (query) => {
		await orders(api).page(query);
		return Object.fromEntries(parameters);
	};
	const at = new Date(Date.UTC(2026, 10, 28)), iso = '2026-11-28T00:00:00.000Z';
	assert.deepEqual(await sent({ 'at.gte': at, 'at.in': [at, at], own: { toJSON: () => '1.50' } }), { 'at.gte': iso, 'at.in': `${iso},${iso}`, own: '1.50' });
	assert.deepEqual(await sent({ 'name.in': [], status: 'new' }), { status: 'new', filter: '{"name":{"in":[]}}' });
	assert.deepEqual(await sent({ 'a.in': [], 'b.notIn': [], filter: { c: { eq: 1 } } }), { filter: '{"and":[{"c":{"eq":1}},{"a":{"in":[]}},{"b":{"notIn":[]}}]}' });
	for (const name of ['name', 'sort', 'lines.none.id.in']) {
		await assert.rejects(orders(api).page({ [name]: [] }), { name: 'TypeError', message: `${name} is an empty list; state the condition in filter` });
	}
});

test('Retry-After in the format of asctime is in GMT', async (t) => {
	const zone = process.env.TZ;
	t.after(() => { zone === undefined ? delete process.env.TZ : process.env.TZ = zone; });
	const asctime = (at) => at.toUTCString().replace(/^(...), (..) (...) (....) (.*) GMT$/, '$1 $3 $2 $5 $4');
	for (const [place, seconds, requests] of [['America/New_York', 0, 2], ['Asia/Tokyo', 3600, 1]]) {
		process.env.TZ = place;
		const unavailable = () => new Response('', { status: 503, headers: { 'Retry-After': asctime(new Date(Date.now() + 1000 * seconds)) } });
		const { api, sent } = local(unavailable, reply(item));
		await orders(api).get(1).catch(() => {});
		assert.equal(sent.length, requests, `${place}: ${asctime(new Date())}`);
	}
});

test('a large event is split once', async () => {
	const text = created('c2', 2).replace('"1"', `"${'x'.repeat(4 << 20)}"`), size = 64 << 10;
	const parts = new Response(new ReadableStream({
		start(c) {
			for (let i = 0; i < text.length; i += size) c.enqueue(new TextEncoder().encode(text.slice(i, i + size)));
		},
	}), { headers: { 'Content-Type': 'text/event-stream' } });
	const split = mock.method(String.prototype, 'split');
	const { api } = local(() => parts);
	assert.equal(await follow('c1', 1)(api), 'created 2');
	const characters = split.mock.calls.reduce((sum, call) => sum + call.this.length, 0);
	split.mock.restore();
	assert.ok(characters >= text.length && characters < 2 * text.length, `${characters} characters of ${text.length} are split`);
});

test('patch sends a tag that the caller holds', async () => {
	let request;
	const api = new Client('http://api', { fetch: async (_, init) => { request = init; return reply(item, { ETag: '"2.a"' })(); } });
	assert.deepEqual(await orders(api).patch(1, { count: 2, note: null }, { tag: '"1.a"' }), { value: stored, id: '1', tag: '"2.a"', replayed: false });
	assert.deepEqual([request.method, request.headers['If-Match'], request.headers['Content-Type'], request.body], ['PATCH', '"1.a"', 'application/merge-patch+json', '{"count":2,"note":null}']);
});
