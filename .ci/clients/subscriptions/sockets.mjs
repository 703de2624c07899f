// The npm client graphql-ws with the WebSockets of query/graphql: sockets.mjs PROGRAM runs the program counter. Each check has the
// name of what it proves; the first that fails ends the run.
import assert from 'node:assert/strict';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { ownAddress, start } from '../shop/shop.mjs';

const program = process.argv[2];

// startCounter starts the server at an address.
const startCounter = (addr) => start(program, ['-addr', addr]);

let server = await startCounter(ownAddress);
process.once('exit', () => server.stop());

// connect makes a client, and notes what happens to its sockets.
function connect(options = {}) {
	const events = [];
	const note = (name) => (event) => events.push(name === 'closed' ? `closed ${event.code} ${event.reason}` : name);
	const client = createClient({
		url: server.url,
		webSocketImpl: WebSocket,
		retryAttempts: 0,
		retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
		onNonLazyError: (err) => events.push(`failed ${err.code}`),
		...options,
		on: {
			connected: note('connected'), closed: note('closed'), ping: note('ping'), pong: note('pong'), ...options.on,
		},
	});
	return { client, events };
}

// all collects the results of an operation, and rejects with its error.
function all(client, query, variables) {
	return new Promise((resolve, reject) => {
		const results = [];
		client.subscribe({ query, variables }, { next: (r) => results.push(r), error: reject, complete: () => resolve(results) });
	});
}

// counting collects what a subscription without end counts, until it is stopped. By then nothing of it is missing.
function counting(client) {
	const results = [];
	const over = new Promise((resolve, reject) => {
		results.stop = client.subscribe({ query: count, variables: { from: 1 } }, { next: (r) => results.push(r), error: reject, complete: resolve });
	});
	results.end = async () => {
		results.stop();
		await over;
		assert.deepEqual(plain(results), numbers(1, results.length));
	};
	return results;
}

// until waits for what is to become true.
async function until(what, holds) {
	for (const limit = Date.now() + 300_000; Date.now() < limit;) {
		if (await holds()) return;
		await new Promise((resolve) => setTimeout(resolve, 25));
	}
	throw new Error(`not within five minutes: ${what}`);
}

const rejection = (promise) => promise.then(() => assert.fail('it did not fail'), (err) => err);
const plain = (value) => JSON.parse(JSON.stringify(value));
const count = 'subscription ($from: Int, $to: Int) { count(from: $from, to: $to) }';
const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => ({ data: { count: from + i } }));

const checks = {
	async 'lazy: a socket for as long as something is asked'() {
		const { client, events } = connect();
		await new Promise((resolve) => setTimeout(resolve, 100));
		assert.deepEqual(events, []);
		assert.deepEqual(plain(await all(client, '{ streams }')), [{ data: { streams: 0 } }]);
		await until('closed', () => events.length === 2);
		assert.deepEqual(events, ['connected', 'closed 1000 Normal Closure']);
		assert.equal((await all(client, 'mutation { add(n: 2) }'))[0].data.add, 2);
		await until('closed again', () => events.length === 4);
	},

	async 'not lazy: a socket from the beginning, for everything'() {
		const { client, events } = connect({ lazy: false });
		await until('connected', () => events.length === 1);
		for (let i = 0; i < 3; i++) await all(client, '{ streams }');
		assert.deepEqual(events, ['connected']);
		await client.dispose();
		await until('closed', () => events.length === 2);
		assert.equal(events[1], 'closed 1000 Normal Closure');
	},

	async 'several operations at a time, each with its results'() {
		const { client, events } = connect();
		const [a, b, c, q, m] = await Promise.all([
			all(client, count, { from: 1, to: 20 }), all(client, count, { from: 100, to: 110 }), all(client, count, { from: 7, to: 7 }),
			all(client, '{ user }'), all(client, 'mutation { add(n: 0) }'),
		]);
		assert.deepEqual(plain(a), numbers(1, 20));
		assert.deepEqual(plain(b), numbers(100, 110));
		assert.deepEqual(plain(c), numbers(7, 7));
		assert.deepEqual(plain(q), [{ data: { user: '' } }]);
		assert.equal(m.length, 1);
		assert.equal(events.filter((e) => e === 'connected').length, 1);
	},

	async 'iterate, and break off'() {
		const { client } = connect({ lazy: false }); // one socket, however long an operation takes
		const seen = [];
		for await (const result of client.iterate({ query: count, variables: { from: 1 } })) {
			seen.push(result.data.count);
			if (seen.length === 3) break;
		}
		assert.deepEqual(seen, [1, 2, 3]);
		await until('the stream has ended', async () => (await all(client, '{ streams }'))[0].data.streams === 0);
		await client.dispose();
	},

	async 'a large result, and characters of several bytes'() {
		const { client } = connect();
		assert.equal((await all(client, '{ long }'))[0].data.long, 'é'.repeat(100_000));
	},

	async 'what is refused is an error; what fails is a result'() {
		const { client, events } = connect({ lazy: false }); // one socket, however long an operation takes
		const invalid = await rejection(all(client, '{ unknown }'));
		assert.match(invalid[0].message, /unknown/);
		const syntax = await rejection(all(client, '{'));
		assert.match(syntax[0].message, /Syntax Error/);
		const failed = await all(client, '{ broken }');
		assert.equal(failed[0].errors[0].message, 'broken');
		assert.deepEqual(plain(await all(client, '{ streams }')), [{ data: { streams: 0 } }]); // the socket is still there
		assert.deepEqual(events, ['connected']);
		await client.dispose();
	},

	async 'one operation too many is refused, and the others go on'() {
		const { client } = connect();
		const others = [1, 2, 3, 4, 5].map(() => counting(client));
		const refused = await rejection(all(client, '{ streams }'));
		assert.equal(refused[0].extensions.code, 'RATE_LIMITED');
		const before = others.map((results) => results.length);
		await until('the others go on', () => others.every((results, i) => results.length > before[i] + 5));
		for (const results of others) await results.end();
	},

	async 'keepAlive: pings of the client are answered'() {
		const { client, events } = connect({ keepAlive: 30 });
		const results = counting(client);
		await until('three pongs', () => events.filter((e) => e === 'pong').length >= 3);
		await results.end();
		await until('closed', () => events.at(-1) === 'closed 1000 Normal Closure');
	},

	async 'a client that is refused receives the reason, and does not retry'() {
		const { client, events } = connect({ connectionParams: { token: 'no' } });
		const closed = await rejection(all(client, '{ user }'));
		assert.equal(closed.code, 4403);
		assert.equal(closed.reason, 'Forbidden');
		assert.deepEqual(events, ['closed 4403 Forbidden']);
	},

	async "the server's fault"() {
		const closed = await rejection(all(connect({ connectionParams: { token: 'fault' }, retryAttempts: 5 }).client, '{ user }'));
		assert.equal(closed.code, 4500);
		assert.equal(closed.reason, 'Internal error');
	},

	async 'the same id twice'() {
		const { client } = connect({ generateID: () => 'same', retryAttempts: 5 });
		const [one, two] = [all(client, count, { from: 1 }), all(client, count, { from: 1 })].map(rejection);
		assert.equal((await one).code, 4409);
		assert.equal((await two).reason, 'Subscriber for same already exists');
	},

	async 'no init in time'() {
		const { client } = connect({ connectionParams: () => new Promise(() => {}) });
		const closed = await rejection(all(client, '{ user }'));
		assert.equal(closed.code, 4408);
	},

	async 'another protocol'() {
		const socket = new WebSocket(server.url, 'graphql-ws');
		const [code, reason] = await new Promise((resolve) => {
			socket.once('close', (code, reason) => resolve([code, String(reason)]));
			socket.once('error', () => {}); // ws minds that the server names no protocol
		});
		assert.ok(code === 4406 && reason === 'Subprotocol not acceptable' || code === 1006, `${code} ${reason}`);
	},

	async 'a foreign origin'() {
		const socket = new WebSocket(server.url, 'graphql-transport-ws', { origin: 'https://evil.example' });
		const err = await new Promise((resolve) => socket.once('error', resolve));
		assert.match(err.message, /403/);
	},

	async 'an authorization expires: the client connects with another token, and resumes'() {
		const expired = 'closed 4403 Forbidden: the authorization has expired';
		// Where things are slow, a moment may be over before the connection is there: that one is not counted.
		const { client, events } = connect({ connectionParams: () => ({ token: times() < 2 ? 'short' : 'long' }), retryAttempts: 1000 });
		const times = () => events.filter((e, i) => e === expired && events[i - 1] === 'connected').length;
		assert.deepEqual(await resumed(client, 120), numbers(1, 120).map((r) => r.data.count));
		assert.equal(times(), 2, `${events}`);
		assert.deepEqual(events.filter((e) => e !== expired), ['connected', 'connected', 'connected'], `${events}`);
	},

	async 'the server is restarted: the client connects again, and resumes'() {
		// Without shouldRetry the client gives up if the server does not listen for a moment.
		const { client, events } = connect({ retryAttempts: 1000, shouldRetry: () => true });
		const payload = { query: count, variables: { from: 1 } };
		const seen = [];
		const over = new Promise((resolve, reject) => {
			seen.stop = client.subscribe(payload, { next: ({ data }) => { payload.variables.from = seen.push(data.count) + 1; }, error: reject, complete: resolve });
		});
		for (const enough of [10, 20, 30]) {
			await Promise.race([until(`${enough} results`, () => seen.length >= enough), over]);
			if (enough === 30) break;
			assert.equal(await server.stop(), 0);
			server = await startCounter(server.addr);
		}
		seen.stop();
		await over;
		assert.deepEqual([...seen], numbers(1, seen.length).map((r) => r.data.count));
		assert.deepEqual(events.filter((e) => e.startsWith('closed 1001')).length, 2, `${events}`);
		assert.equal(events[1], 'closed 1001 Going away');
	},
};

// resumed counts up to a number, and resumes after the last one over a new socket: the client sends the payload as it is then.
function resumed(client, to) {
	const payload = { query: count, variables: { from: 1, to } };
	return new Promise((resolve, reject) => {
		const seen = [];
		client.subscribe(payload, {
			next: ({ data }) => {
				seen.push(data.count);
				payload.variables.from = data.count + 1;
			},
			error: reject,
			complete: () => resolve(seen),
		});
	});
}

for (const [name, check] of Object.entries(checks)) {
	await check();
	console.log(`ok  ${name}`);
}
assert.equal(await server.stop(), 0);
