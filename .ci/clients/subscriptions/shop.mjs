// The npm clients graphql-ws and graphql-sse with the shop's GraphQL endpoint: shop.mjs PROGRAM FOLDER runs the shop on a database
// in the folder, and restarts it. Each check has the name of what it proves; the first that fails ends the run.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createClient as eventClient } from 'graphql-sse';
import { createClient as socketClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { ownAddress, startShop } from '../shop/shop.mjs';

const [program, folder] = process.argv.slice(2);

// serve starts the shop at an address, on the database in the folder.
const serve = (addr) => startShop(program, addr, ['-db', join(folder, 'shop.db')]);

let shop = await serve(ownAddress);
process.once('exit', () => shop.stop());

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const plain = (value) => JSON.parse(JSON.stringify(value));

// post asks over HTTP, until there is an answer that is none of a shop that is about to end.
async function post(query, variables, headers = {}) {
	for (let i = 0; ; i++) {
		try {
			const answer = await fetch(`${shop.url}/graphql`, {
				method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify({ query, variables }),
			});
			const text = await answer.text();
			if (answer.status === 409 || answer.status >= 500) throw new Error(`${answer.status} ${text}`);
			return JSON.parse(text);
		} catch (err) {
			if (i === 2000) throw err;
			await pause(50);
		}
	}
}

const noted = 'mutation ($note: String) { patchOrder(id: 1, input: { note: $note }) { id } }';
async function note(text) { // once, however often it is asked for
	const { errors } = await post(noted, { note: text }, { 'Idempotency-Key': `"${randomUUID()}"` });
	assert.equal(errors, undefined);
}

function overSocket(options = {}, path = '/graphql') {
	const codes = [];
	const client = socketClient({
		url: shop.url.replace('http', 'ws') + path, webSocketImpl: WebSocket, retryAttempts: 0, retryWait: () => pause(50),
		...options, on: { closed: (event) => codes.push(event.code) },
	});
	return { client, codes };
}

const overEvents = (options = {}, path = '/graphql') => ({
	client: eventClient({ url: shop.url + path, retryAttempts: 0, retry: () => pause(50), ...options }), codes: [],
});

// all collects the results of an operation, and rejects with its error.
const all = (client, request) => new Promise((resolve, reject) => {
	const results = [];
	client.subscribe(request, { next: (r) => results.push(r), error: reject, complete: () => resolve(results) });
});
const rejection = (promise) => promise.then(() => assert.fail('it did not fail'), (err) => err);

const changes = 'subscription ($after: String) { orderChanged(id: 1, after: $after) { kind cursor order { note } } }';

// place returns the cursor of a client that has listed: each later change is after it.
const place = async () => (await post('{ orders(first: 1) { eventCursor } }')).data.orders.eventCursor;

// everyChange writes while the shop is restarted twice, and stores what a client receives. When the client connects again, it sends
// the request with the cursor of the last result.
async function everyChange({ client, codes }, prefix, closedWith) {
	const request = { query: changes, variables: { after: await place() } };
	const seen = [];
	const count = 90;
	const over = new Promise((resolve, reject) => {
		const stop = client.subscribe(request, {
			next: ({ data, errors }) => {
				if (errors) return reject(new Error(JSON.stringify(errors)));
				const { cursor, order } = data.orderChanged;
				request.variables.after = cursor;
				seen.push(order.note);
				if (order?.note === `${prefix} ${count}`) {
					stop();
					resolve();
				}
			},
			error: reject,
			complete: resolve,
		});
	});
	const write = async (from, to) => {
		for (let n = from; n <= to; n++) await note(`${prefix} ${n}`);
	};
	for (const from of [1, 31]) {
		const writing = write(from, from + 29);
		while (seen.length < from + 9) await Promise.race([pause(5), over]); // it listens, and there is more to come
		const before = codes.length;
		assert.equal(await shop.stop(), 0);
		// A client that connects at once may reach the shop before it stops listening, and is closed again.
		while (closedWith && !codes.slice(before).includes(closedWith)) await Promise.race([pause(5), over]);
		shop = await serve(shop.addr);
		await writing;
	}
	await write(61, count);
	await over;
	assert.deepEqual(seen, Array.from({ length: count }, (_, i) => `${prefix} ${i + 1}`));
}

const checks = {
	async 'graphql-ws: queries and mutations'() {
		const { client } = overSocket();
		assert.deepEqual(plain(await all(client, { query: '{ order(id: 1) { id } }' })), [{ data: { order: { id: '1' } } }]);
		assert.deepEqual(plain(await all(client, { query: noted, variables: { note: 'by socket' } })), [{ data: { patchOrder: { id: '1' } } }]);
	},

	async 'graphql-ws: a key is one over both ways'() {
		const { client } = overSocket();
		const create = 'mutation { createOrder(input: { lines: [{ itemId: 1, qty: 1 }] }) { id } }';
		const keyed = (key) => ({ query: create, extensions: { idempotencyKey: key } });
		const [first] = plain(await all(client, keyed('ws-1')));
		assert.match(first.data.createOrder.id, /^\d+$/);
		assert.deepEqual(plain(await all(client, keyed('ws-1'))), [first]);
		assert.deepEqual(await post(create, undefined, { 'Idempotency-Key': 'ws-1' }), first);
		const [other] = plain(await all(client, keyed('ws-2')));
		assert.notEqual(other.data.createOrder.id, first.data.createOrder.id);
		const misused = await rejection(all(client, { query: create.replace('qty: 1', 'qty: 2'), extensions: { idempotencyKey: 'ws-1' } }));
		assert.ok(misused[0].extensions.code, JSON.stringify(misused));
	},

	async 'graphql-ws: every change once, over two restarts'() {
		// Without shouldRetry the client gives up if the shop does not listen for a moment.
		await everyChange(overSocket({ retryAttempts: 2000, shouldRetry: () => true }), 'ws', 1001);
	},

	async 'graphql-ws: cursors that do not work'() {
		const { client } = overSocket();
		const code = async (after) => (await rejection(all(client, { query: changes, variables: { after } })))[0].extensions.code;
		assert.equal(await code('yesterday'), 'BAD_USER_INPUT');
		assert.equal(await code('AAAAAAAAAAEBAAAAAAAAAAE'), 'CURSOR_EXPIRED');
		assert.match((await rejection(all(client, { query: 'subscription { nothing }' })))[0].message, /nothing/);
	},

	async 'graphql-ws: each contract has its shapes'() {
		const { client } = overSocket({}, '/v1/graphql');
		const query = 'subscription ($after: String) { orderChanged(after: $after) { kind order { id itemId } } }';
		const variables = { after: await place() };
		await note('for the old contract');
		const seen = [];
		for await (const { data } of client.iterate({ query, variables })) {
			seen.push(plain(data.orderChanged));
			break;
		}
		assert.equal(seen[0].kind, 'UPDATED');
		assert.equal(seen[0].order.id, '1');
		assert.ok(seen[0].order.itemId);
	},

	async 'raw: what sockets are closed with'() {
		const url = `${shop.url.replace('http', 'ws')}/graphql`;
		const closed = (protocol, ...messages) => new Promise((resolve, reject) => {
			const socket = new WebSocket(url, protocol);
			socket.once('open', () => messages.forEach((m) => socket.send(typeof m === 'string' ? m : JSON.stringify(m))));
			socket.once('close', (code, reason) => resolve(`${code} ${reason}`));
			socket.once('error', (err) => /subprotocol/.test(err.message) || reject(err));
		});
		const init = { type: 'connection_init' };
		const live = { id: '1', type: 'subscribe', payload: { query: changes } };
		const table = [
			['a message that is none', ['hello'], '4400 Invalid message: not a JSON object'],
			['an operation before the connection', [live], '4401 Unauthorized'],
			['a second init', [init, init], '4429 Too many initialisation requests'],
			['no init', [], '4408 Connection initialisation timeout'],
			['a large message', [JSON.stringify({ type: 'ping', payload: { x: 'x'.repeat(2 << 20) } })], '1009 Message too large'],
		];
		for (const [what, messages, want] of table) {
			assert.equal(await closed('graphql-transport-ws', ...messages), want);
			console.log(`    ${want.slice(0, 4)}  ${what}`);
		}
		const taken = overSocket({ generateID: () => 'same' }).client;
		const [one] = await Promise.all([1, 2].map(() => rejection(all(taken, { query: changes }))));
		assert.equal(`${one.code} ${one.reason}`, '4409 Subscriber for same already exists');
		console.log('    4409  an id that is taken');
	},

	async 'graphql-sse: queries, mutations, and what is wrong with them'() {
		const { client } = overEvents();
		assert.deepEqual(plain(await all(client, { query: '{ order(id: 1) { id } }' })), [{ data: { order: { id: '1' } } }]);
		assert.deepEqual(plain(await all(client, { query: noted, variables: { note: 'by events' } })), [{ data: { patchOrder: { id: '1' } } }]);
		const [invalid] = await all(client, { query: '{ unknown }' });
		assert.equal(invalid.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
		const [expired, ...more] = await all(client, { query: changes, variables: { after: 'AAAAAAAAAAEBAAAAAAAAAAE' } });
		assert.equal(expired.errors[0].extensions.code, 'CURSOR_EXPIRED');
		assert.deepEqual(more, []);
	},

	async 'graphql-sse: iterate and break, dispose in the middle'() {
		const { client } = overEvents();
		const variables = { after: await place() };
		await note('to be broken off');
		for await (const { data } of client.iterate({ query: changes, variables })) {
			assert.equal(data.orderChanged.order.note, 'to be broken off');
			break;
		}
		const left = all(client, { query: changes });
		client.dispose();
		assert.deepEqual(await left, []);
	},

	async 'graphql-sse: an error of HTTP is one of the network'() {
		const { client } = overEvents({}, '/graphql/nothing');
		assert.equal((await rejection(all(client, { query: '{ __typename }' }))).response.status, 404);
	},

	async 'graphql-sse: every change once, over two restarts'() {
		await everyChange(overEvents({ retryAttempts: 2000 }), 'sse');
	},
};

for (const [name, check] of Object.entries(checks)) {
	await check();
	console.log(`ok  ${name}`);
}
assert.equal(await shop.stop(), 0);
