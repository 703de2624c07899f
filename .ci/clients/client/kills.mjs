// kills.mjs PROGRAM FOLDER WRITES: writers and a consumer use the shop through a proxy that loses every eighth response, while
// the shop is killed after numbers of writes that depend on SEED. Each write has to have one effect, and the consumer has to
// receive each change once.
//
// The controls send writes without keys and follow the feed without a cursor. Their faults are injected at named steps: the
// response of the first write without a key is lost, and orders are created while the stream without a cursor is closed. So
// the first write has to be duplicated, and these orders have to be missing in the stream.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { Client } from '@stoa-go/client';
import { between } from '../shop/seed.mjs';
import { ownAddress, startShop } from '../shop/shop.mjs';

const [program, folder, count] = process.argv.slice(2);
const writes = Number(count), writers = 16;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const serve = (addr) => startShop(program, addr, ['-db', join(folder, 'shop.db')]);

let shop = await serve(ownAddress);
let kills = 0;
process.once('exit', () => shop.kill('SIGKILL'));

// reached resolves when so many writes are acknowledged.
let acknowledged = 0;
const milestones = [];
const reached = (n) => new Promise((resolve) => milestones.push({ n, resolve }));
function acknowledge() {
	acknowledged++;
	for (const m of milestones) if (m.n <= acknowledged) m.resolve();
}

// killing kills the shop each time after some more writes, and starts it again at its address.
const interval = Math.max(10, Math.ceil(writes / 10));
async function killing() {
	for (let n = between(1, interval); n < writes; n = acknowledged + between(1, interval)) {
		await reached(n);
		shop.kill('SIGKILL');
		await shop.exited;
		kills++;
		shop = await serve(shop.addr);
	}
}

// The proxy loses every eighth response, and that of the first write without a key which the shop has acknowledged.
let responses = 0, lost = 0, firstUnkeyed;
const proxy = createServer((from, to) => {
	const up = request(shop.url + from.url, { method: from.method, headers: from.headers }, (answer) => {
		const first = !firstUnkeyed && from.method === 'POST' && !('idempotency-key' in from.headers) && answer.statusCode === 201;
		if (first) firstUnkeyed = from.headers['x-note'];
		if (first || (answer.headers['content-type'] !== 'text/event-stream' && ++responses % 8 === 0)) {
			lost++;
			answer.resume().on('end', () => to.destroy()).on('error', () => to.destroy());
			return;
		}
		to.writeHead(answer.statusCode, answer.headers);
		answer.on('error', () => to.destroy()).on('aborted', () => to.destroy()).pipe(to);
	});
	up.on('error', () => to.destroy());
	to.on('close', () => up.destroy());
	from.pipe(up);
});
await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${proxy.address().port}/v2`;

const api = new Client(url, { attempts: Infinity, maxWait: 500 });
const orders = api.resource('orders');
const order = (note) => ({ note, customerId: 2, lines: [{ itemId: 7, qty: 1 }] });

// followed has the orders of a consumer that follows from the start. It starts again after some changes, as after a crash, and
// resumes after the last cursor that it has stored. A crash is before or after the change is stored.
const followed = new Map(), seen = new Map();
const ended = new AbortController();
let resets = 0, restarts = 0, listed;
const list = new Promise((resolve) => { listed = resolve; });
const waiting = new Map();
// received resolves when the consumer has stored the creation of the order with a note.
const received = (note) => new Promise((resolve) => { seen.has(note) ? resolve() : waiting.set(note, resolve); });
function store(change) {
	if (change.kind === 'reset') resets++, followed.clear();
	if (change.kind === 'deleted') followed.delete(change.value.id);
	if (change.kind === 'created') seen.set(change.value.note, (seen.get(change.value.note) ?? 0) + 1);
	if ('value' in change && change.kind !== 'deleted') followed.set(change.value.id, change.value);
	if (change.kind === 'bookmark') listed();
	if (change.kind === 'created') waiting.get(change.value.note)?.();
}
async function consume() {
	for (let cursor; !ended.signal.aborted;) {
		let left = between(10, 60);
		const stopped = new AbortController();
		try {
			for await (const change of orders.follow({}, { signal: AbortSignal.any([ended.signal, stopped.signal]), ...(cursor && { cursor }) })) {
				const crash = change.kind !== 'bookmark' && --left === 0;
				if (!crash || between(0, 1) === 1) {
					store(change);
					if ('cursor' in change) cursor = change.cursor;
				}
				if (crash) {
					restarts++;
					stopped.abort();
					break;
				}
			}
		} catch (err) {
			if (!ended.signal.aborted) throw err;
		}
	}
}

// unkeyed repeats a POST without a key until it has a response.
async function unkeyed(note) {
	for (;;) {
		try {
			const answer = await fetch(`${url}/orders`, {
				method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Note': note }, body: JSON.stringify(order(note)) });
			await answer.text();
			if (answer.status === 201) return;
		} catch { /* the response is lost, or the shop does not run */ }
		await pause(20);
	}
}

// withoutCursor stores the notes of orders that streams without cursors deliver. It closes each stream after some of them,
// creates an order, and connects again when the consumer has received that. missed has the notes of these orders.
const heard = new Set(), missed = [], over = new AbortController();
async function withoutCursor() {
	while (!over.signal.aborted) {
		let left = missed.length ? 50 : 0;
		const stopped = new AbortController();
		try {
			const answer = await fetch(`${url}/orders`, { headers: { Accept: 'text/event-stream' }, signal: AbortSignal.any([over.signal, stopped.signal]) });
			if (!answer.ok) throw new Error(`status ${answer.status}`);
			let text = '';
			const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
			while (left > 0) {
				const { value, done } = await reader.read();
				if (done) break;
				const blocks = (text + value).split('\n\n');
				text = blocks.pop();
				for (const block of blocks) {
					const data = /^event: created$/m.test(block) && /^data: (.*)$/m.exec(block);
					if (data) heard.add(JSON.parse(data[1]).note), left--;
				}
			}
			stopped.abort();
		} catch {
			await pause(20); // the connection is lost, or ended
			continue;
		}
		if (over.signal.aborted) return;
		missed.push(`missed-${missed.length}`);
		await orders.create(order(missed.at(-1)));
		await received(missed.at(-1)); // a stream starts at the newest event that the server has read from its log
		connected();
	}
}
let connected;
const control = { started: new Promise((resolve) => { connected = resolve; }) };

// Two orders count the updates, because a quantity is at most 1,000.
const counters = [await orders.create(order('counter')), await orders.create(order('counter'))];
const consumer = consume();
await list;
control.ended = withoutCursor();
await control.started; // the first order that it must miss is acknowledged
const killer = killing();
let next = 0;
await Promise.all(Array.from({ length: writers }, async () => {
	for (let n = next++; n < writes; n = next++) {
		if (n % 10 === 9) {
			await orders.update(counters[Math.floor(n / 10) % 2].id, (o) => { o.lines[0].qty++; });
		} else {
			await orders.create(order(`keyed-${n}`));
		}
		acknowledge();
		if (n % 3 === 0) await unkeyed(`unkeyed-${n}`);
	}
}));
await killer;
over.abort();
await control.ended;

// Changes are delivered in order: the consumer has received all others when it receives the last order.
await orders.create(order('last'));
await received('last');
ended.abort();
await consumer;

const stored = new Map();
for await (const o of orders.list({ limit: 200 })) stored.set(o.id, o);
const effects = Map.groupBy ? Map.groupBy(stored.values(), (o) => o.note) : [...stored.values()].reduce((m, o) => m.set(o.note, [...(m.get(o.note) ?? []), o]), new Map());
let missing = 0, repeated = 0, unseen = 0, twice = 0, copies = 0;
for (let n = 0; n < writes; n++) {
	if (n % 3 === 0) copies += effects.get(`unkeyed-${n}`).length - 1;
	if (n % 10 === 9) continue;
	const found = effects.get(`keyed-${n}`)?.length ?? 0;
	if (found === 0) missing++;
	if (found > 1) repeated++;
	const times = seen.get(`keyed-${n}`) ?? 0;
	if (times === 0) unseen++;
	if (times > 1) twice++;
}
console.log(`${writes} writes, ${kills} kills, ${lost} responses lost, the consumer started again ${restarts} times and listed ${resets} times`);
console.log(`with keys: ${missing} lost, ${repeated} repeated; with cursors: ${unseen} changes lost, ${twice} duplicated`);
console.log(`control: ${copies} duplicates without keys, ${missed.length} changes lost without cursors`);
assert.deepEqual({ missing, repeated, unseen, twice }, { missing: 0, repeated: 0, unseen: 0, twice: 0 });
const quantities = counters.map(({ id }) => stored.get(Number(id)).lines[0].qty - 1);
assert.equal(quantities[0] + quantities[1], Math.floor(writes / 10));
assert.deepEqual(followed, stored);
assert.ok(kills > 0 && lost > 0 && restarts > 0, 'nothing failed');
assert.ok(effects.get(firstUnkeyed).length > 1, 'the write without a key whose response was lost has no duplicate');
assert.deepEqual(missed.filter((note) => heard.has(note) || effects.get(note).length !== 1), [], 'orders that were created while the stream without a cursor was closed');
assert.ok(missed.length > 0);
console.log('ok: writes and a feed');
proxy.closeAllConnections();
proxy.close();
shop.kill('SIGKILL');
