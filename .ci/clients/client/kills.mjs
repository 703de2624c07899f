// kills.mjs PROGRAM FOLDER WRITES: writers and a consumer use the shop through a proxy that loses every eighth response, while
// the shop is killed. Every write has to have one effect, and the consumer has to see each once. The control sends the
// writes without keys and follows the feed without a cursor, and has to have duplicate writes and lost changes.
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { Client } from '@stoa-go/client';
import { ownAddress, startShop } from '../shop/shop.mjs';

const [program, folder, count] = process.argv.slice(2);
const writes = Number(count), writers = 16;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const serve = (addr) => startShop(program, addr, ['-db', join(folder, 'shop.db')]);

let shop = await serve(ownAddress);
let done = false, kills = 0;
process.once('exit', () => shop.kill('SIGKILL'));

// killing kills the shop about once a second, and starts it again at its address.
async function killing() {
	while (!done) {
		await pause(300 + Math.random() * 900);
		shop.kill('SIGKILL');
		await shop.exited;
		kills++;
		shop = await serve(shop.addr);
	}
}

let responses = 0, lost = 0;
const proxy = createServer((from, to) => {
	const up = request(shop.url + from.url, { method: from.method, headers: from.headers }, (answer) => {
		if (answer.headers['content-type'] !== 'text/event-stream' && ++responses % 8 === 0) {
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

// followed is what a consumer has that follows from the start, and starts again now and then as after a crash.
const followed = new Map(), seen = new Map();
const ended = new AbortController();
let resets = 0, restarts = 0, listed;
const list = new Promise((resolve) => { listed = resolve; });
async function consume() {
	for (let cursor; ;) {
		const crash = new AbortController();
		const timer = setTimeout(() => crash.abort(), 200 + Math.random() * 1500);
		ended.signal.onabort = () => crash.abort();
		try {
			for await (const change of orders.follow({}, { signal: crash.signal, ...(cursor && { cursor }) })) {
				if (change.kind === 'reset') resets++, followed.clear();
				if (change.kind === 'deleted') followed.delete(change.value.id);
				if (change.kind === 'created') seen.set(change.value.note, (seen.get(change.value.note) ?? 0) + 1);
				if ('value' in change && change.kind !== 'deleted') followed.set(change.value.id, change.value);
				if ('cursor' in change) cursor = change.cursor;
				if (change.kind === 'bookmark') listed();
			}
		} catch (err) {
			if (ended.signal.aborted) return;
			if (!crash.signal.aborted) throw err;
			restarts++;
		} finally {
			clearTimeout(timer);
		}
	}
}

// unkeyed repeats a POST without a key until it is answered, as a careless client does.
async function unkeyed(note) {
	for (;;) {
		try {
			const answer = await fetch(`${url}/orders`, {
				method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(order(note)) });
			await answer.text();
			if (answer.status === 201) return;
		} catch { /* again */ }
		await pause(20);
	}
}

// withoutCursor counts the created orders that streams without cursors deliver. It closes each stream after 50 of them, and
// connects again after enough writes that one of them began while it was away: each writer has one write in progress.
const heard = new Set();
let created = 0;
async function withoutCursor() {
	while (!ended.signal.aborted) {
		try {
			const answer = await fetch(`${url}/orders`, { headers: { Accept: 'text/event-stream' }, signal: ended.signal });
			let text = '', received = 0;
			for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
				const blocks = (text + part).split('\n\n');
				text = blocks.pop();
				for (const block of blocks) {
					const data = /^event: created$/m.test(block) && /^data: (.*)$/m.exec(block);
					if (data) heard.add(JSON.parse(data[1]).note), received++;
				}
				if (received >= 50) break;
			}
		} catch {
			await pause(20);
		}
		for (const until = created + writers + 1; created < until && !done && !ended.signal.aborted;) await pause(1);
	}
}

// Two orders count the updates, because a quantity is at most 1,000.
const counters = [await orders.create(order('counter')), await orders.create(order('counter'))];
const consumer = consume();
await list;
const killer = killing();
const control = withoutCursor();
let next = 0;
await Promise.all(Array.from({ length: writers }, async () => {
	for (let n = next++; n < writes; n = next++) {
		if (n % 10 === 9) {
			await orders.update(counters[Math.floor(n / 10) % 2].id, (o) => { o.lines[0].qty++; });
		} else {
			await orders.create(order(`keyed-${n}`));
			created++;
		}
		if (n % 3 === 0) await unkeyed(`unkeyed-${n}`);
	}
}));
done = true;
await killer;

const stored = new Map();
for await (const o of orders.list({ limit: 200 })) stored.set(o.id, o);
for (let i = 0; i < 600 && followed.size !== stored.size; i++) await pause(100);
await pause(500);
ended.abort();
await Promise.all([consumer, control]);

const effects = Map.groupBy ? Map.groupBy(stored.values(), (o) => o.note) : [...stored.values()].reduce((m, o) => m.set(o.note, [...(m.get(o.note) ?? []), o]), new Map());
let missing = 0, repeated = 0, unseen = 0, twice = 0, copies = 0, unheard = 0;
for (let n = 0; n < writes; n++) {
	if (n % 3 === 0) copies += effects.get(`unkeyed-${n}`).length - 1;
	if (n % 10 === 9) continue;
	const found = effects.get(`keyed-${n}`)?.length ?? 0;
	if (found === 0) missing++;
	if (found > 1) repeated++;
	const times = seen.get(`keyed-${n}`) ?? 0;
	if (times === 0) unseen++;
	if (times > 1) twice++;
	if (!heard.has(`keyed-${n}`)) unheard++;
}
console.log(`${writes} writes, ${kills} kills, ${lost} responses lost, the consumer started again ${restarts} times and listed ${resets} times`);
console.log(`with keys: ${missing} lost, ${repeated} repeated; with cursors: ${unseen} changes lost, ${twice} duplicated`);
console.log(`control: ${copies} duplicates without keys, ${unheard} changes lost without cursors`);
assert.deepEqual({ missing, repeated, unseen, twice }, { missing: 0, repeated: 0, unseen: 0, twice: 0 });
const quantities = counters.map(({ id }) => stored.get(Number(id)).lines[0].qty - 1);
assert.equal(quantities[0] + quantities[1], Math.floor(writes / 10));
assert.deepEqual(followed, stored);
assert.ok(kills > 0 && lost > 0 && restarts > 0, 'nothing failed');
assert.ok(copies > 0, 'the control without keys has no duplicates');
assert.ok(unheard > 0, 'the control without cursors has lost nothing');
console.log('ok: writes and a feed');
proxy.closeAllConnections();
proxy.close();
shop.kill('SIGKILL');
