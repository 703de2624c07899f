// A program that uses each exported name with its types. It is compiled, not run.
import { Client, ProblemError, Resource, type Change, type Item, type Page, type Patch, type Query } from '@stoa-go/client';

interface Order { id: number; status: string; note: string | null; lines?: { qty: number }[]; address?: { city: string; zip: string } }

export async function use(): Promise<void> {
	const api = new Client('http://localhost', { headers: async () => ({ Authorization: 'x' }), attempts: 3 });
	const orders: Resource<Order> = api.resource<Order>('orders');
	const made: Item<Order> = await orders.create({ status: 'new' }, { key: 'k' });
	const changed = await orders.update(made.id, (o) => { o.note = null; });
	await orders.update(made.id, (o) => ({ ...o, note: 'x' }));
	await orders.replace(made.id, changed.value, { tag: changed.tag });
	const patch: Patch<Order> = { status: 'paid', note: null, lines: [{ qty: 1 }], address: { city: 'Rome' } };
	await orders.patch(made.id, patch, { tag: changed.tag });
	// @ts-expect-error: a status is a string
	await orders.patch(made.id, { status: 1 });
	const query: Query = { filter: { status: { eq: 'new' } }, sort: '-id', limit: 10, 'id.in': [1, 2], 'placed.gte': new Date(0) };
	const page: Page<Order> = await orders.page(query);
	for await (const order of orders.list(query, { signal: AbortSignal.timeout(10) })) {
		const id: number = order.id + page.items.length;
		// @ts-expect-error: an order has no such member
		console.log(id, order.missing);
	}
	const n: number = (await api.call<{ cancelled: number }>('orders/cancel-stale')).cancelled;
	try {
		await orders.delete(n);
	} catch (err) {
		if (err instanceof ProblemError && err.kind === 'gone') console.log(err.errors[0]?.pointer);
	}
	for await (const change of orders.follow()) see(change);
}

function see(change: Change<Order>): string {
	switch (change.kind) {
		case 'reset': return '';
		case 'bookmark': return change.cursor;
		case 'listed': return change.value.status;
		case 'deleted': return String(change.value.status?.length) + change.cursor;
		default: return change.value.status + change.cursor;
	}
}
