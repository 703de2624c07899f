// The parts of the client, without a server: run by node --test.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Client, ProblemError } from '@stoa-go/client';

// replies returns a client and its requests. Each request receives the next reply, a Response or an Error.
function replies(...list) {
	const sent = [];
	const send = async (url, init) => {
		sent.push({ url, ...init });
		const next = list[Math.min(sent.length, list.length) - 1];
		if (next instanceof Error) throw next;
		return next.clone();
	};
	return { api: new Client('http://api/', { fetch: send, maxWait: 1, attempts: 4 }), sent };
}

const json = (value, headers = {}) => new Response(JSON.stringify(value), { headers: { 'Content-Type': 'application/json', ...headers } });
const problem = (status, type, headers = {}) => new Response(JSON.stringify({ type, title: 'T', detail: 'D', errors: [{ code: 'c' }] }),
	{ status, headers: { 'Content-Type': 'application/problem+json', ...headers } });

test('a write is repeated with its key', async () => {
	const { api, sent } = replies(new TypeError('lost'), problem(503), problem(409, 'https://x/request-in-flight'),
		json({ id: 7 }, { Location: '/orders/a%2Fb', ETag: '"1"', 'Idempotency-Replayed': 'true' }));
	assert.deepEqual(await api.resource('/orders/').create({ n: 1 }), { value: { id: 7 }, id: 'a/b', tag: '"1"', replayed: true });
	assert.equal(sent.length, 4);
	const keys = new Set(sent.map((r) => r.headers['Idempotency-Key']));
	assert.equal(keys.size, 1);
	assert.match([...keys][0], /^"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/);
});

test('errors that are permanent', async () => {
	for (const [reply, kind, status] of [
		[problem(409, 'https://x/conflict'), 'conflict', 409], [problem(422, 'https://x/invalid-content'), 'invalid-content', 422],
		[problem(429, 'https://x/quota-exceeded', { 'Retry-After': '3600' }), 'quota-exceeded', 429],
		[new Response('<html>', { status: 500 }), 'about:blank', 500], [new Response('{', { status: 404, headers: { 'Content-Type': 'application/problem+json' } }), 'about:blank', 404],
	]) {
		const { api, sent } = replies(reply);
		await assert.rejects(api.resource('orders').create({}), (err) => err instanceof ProblemError && err.kind === kind && err.status === status);
		assert.equal(sent.length, 1, kind);
	}
	const { api, sent } = replies(problem(503));
	await assert.rejects(api.resource('orders').get(1), { status: 503, detail: 'D', title: 'T', errors: [{ code: 'c' }] });
	assert.equal(sent.length, 4);
});

test('an aborted signal ends the attempts', async () => {
	const abort = new AbortController();
	const api = new Client('http://api', { fetch: async () => { abort.abort(new Error('enough')); return problem(503); } });
	await assert.rejects(api.resource('orders').get(1, { signal: abort.signal }), /enough/);
});

test('update sends what has changed', async () => {
	const old = { id: 1, a: { b: 1, c: [1, 2], d: null }, e: 'x', f: 2, ['__proto__']: 1 };
	for (const [change, patch] of [
		[(v) => { v.e = 'y'; }, { e: 'y' }], [(v) => { delete v.e; v.g = [1]; }, { e: null, g: [1] }],
		[(v) => { v.a.b = 2; v.a.c = [1, 2]; }, { a: { b: 2 } }], [(v) => { v.a.c.push(3); }, { a: { c: [1, 2, 3] } }],
		[(v) => { v.a = 'flat'; }, { a: 'flat' }], [(v) => ({ ...v, f: { z: 1 } }), { f: { z: 1 } }], [(v) => { v.e = undefined; }, { e: null }],
		[(v) => { v.a.d = null; }, undefined], [() => {}, undefined],
	]) {
		const { api, sent } = replies(json(old, { ETag: '"1"' }), json({ id: 1 }, { ETag: '"2"' }));
		const item = await api.resource('orders').update(1, change);
		assert.equal(item.tag, patch ? '"2"' : '"1"');
		assert.deepEqual(sent[1] && JSON.parse(sent[1].body), patch);
		if (patch) {
			assert.equal(sent[1].headers['If-Match'], '"1"');
			assert.equal(sent[1].headers['Content-Type'], 'application/merge-patch+json');
		}
	}
	const { api, sent } = replies(json(old), problem(412, 'https://x/precondition-failed'), json(old), json(old));
	await api.resource('orders').update(1, (v) => { v.f++; });
	assert.equal(sent.length, 4);
	assert.notEqual(sent[1].headers['Idempotency-Key'], sent[3].headers['Idempotency-Key']);
});

test('lists', async () => {
	const { api, sent } = replies(json({ items: [1, 2], next: 'c' }), json({ items: [3] }));
	const all = [];
	for await (const n of api.resource('orders').list({ sort: '-a', 'b.in': ['x,y', 'z'], filter: { a: { eq: 1 } }, none: undefined })) all.push(n);
	assert.deepEqual(all, [1, 2, 3]);
	assert.equal(sent[0].url, 'http://api/orders?sort=-a&b.in=x%5C%2Cy%2Cz&filter=%7B%22a%22%3A%7B%22eq%22%3A1%7D%7D');
	assert.equal(new URL(sent[1].url).searchParams.get('after'), 'c');
	await api.resource('orders').page({ note: 'x'.repeat(5000) });
	assert.deepEqual([sent[2].method, sent[2].url, sent[2].body.length], ['QUERY', 'http://api/orders', 5005]);
});

// stream returns a response whose content arrives in parts of some bytes.
function stream(text, size) {
	const bytes = new TextEncoder().encode(text);
	return new Response(new ReadableStream({
		start(c) {
			for (let i = 0; i < bytes.length; i += size) c.enqueue(bytes.slice(i, i + size));
			c.close();
		},
	}), { headers: { 'Content-Type': 'text/event-stream' } });
}

test('a feed in parts of every size', async () => {
	const text = '\ufeffretry: 5\r\n\r\nid: a\r\n\r\nid: b\nevent: created\ndata: {"n":\ndata: "ü"}\n\n: ping\rid: c\revent: deleted\rdata: {"id":1}\r\rdata: cut';
	for (let size = 1; size < 60; size++) {
		const abort = new AbortController();
		let calls = 0;
		const api = new Client('http://api', { maxWait: 1, fetch: async (url, init) => {
			if (++calls === 2) {
				assert.equal(init.headers['Last-Event-ID'], 'c');
				abort.abort(new Error('enough'));
				throw abort.signal.reason;
			}
			return stream(text, size);
		} });
		const got = [];
		await assert.rejects(async () => {
			for await (const c of api.resource('orders').follow({}, { cursor: '0', signal: abort.signal })) got.push(c);
		}, /enough/);
		assert.deepEqual(got, [{ kind: 'bookmark', cursor: 'a' }, { kind: 'created', value: { n: 'ü' }, cursor: 'b' }, { kind: 'deleted', value: { id: 1 }, cursor: 'c' }], `parts of ${size} bytes`);
	}
});

test('a feed whose cursor has expired lists again', async () => {
	const { api, sent } = replies(problem(410, 'https://x/cursor-expired'), json({ items: [{ id: 1 }], next: 'p' }, { 'Event-Cursor': 'e1' }),
		json({ items: [{ id: 2 }] }, { 'Event-Cursor': 'e2' }), stream('id: expired\n\n', 99), json({ items: [] }, { 'Event-Cursor': 'e3' }), problem(403, 'https://x/forbidden'));
	const got = [];
	await assert.rejects(async () => {
		for await (const c of api.resource('orders').follow({ status: 'new' }, { cursor: 'old' })) got.push(c);
	}, { kind: 'forbidden' });
	assert.deepEqual(got, [{ kind: 'reset' }, { kind: 'listed', value: { id: 1 } }, { kind: 'listed', value: { id: 2 } }, { kind: 'bookmark', cursor: 'e1' },
		{ kind: 'reset' }, { kind: 'bookmark', cursor: 'e3' }]);
	assert.ok(sent.every((r) => r.url.includes('status=new')));
});

test('a silent stream is opened again', async () => {
	let calls = 0;
	const api = new Client('http://api', { maxWait: 1, silence: 5, fetch: async (url, { signal }) => {
		if (++calls === 3) return problem(401, 'https://x/unauthenticated');
		return new Response(new ReadableStream({ start(c) { signal.addEventListener('abort', () => c.error(signal.reason)); } }),
			{ headers: { 'Content-Type': 'text/event-stream' } });
	} });
	await assert.rejects(async () => { for await (const _ of api.resource('orders').follow({}, { cursor: 'a' })); }, { kind: 'unauthenticated' });
	assert.equal(calls, 3);
});
