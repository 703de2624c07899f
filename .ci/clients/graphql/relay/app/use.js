// relay-runtime with the compiled documents: use.js MODE URL. With the mode global, the server has global ids. With plain it has
// none, and the store must mix items of two types up, unless getDataID has the type.
const assert = require('node:assert/strict');
const relay = require('relay-runtime');

const [mode, url] = process.argv.slice(2);
const artifact = (name) => require(`./__generated__/${name}.graphql`);

async function post(query, variables) {
	const response = await fetch(url, {
		method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables }),
	});
	const result = await response.json();
	assert.equal(result.errors, undefined, JSON.stringify(result.errors));
	return result;
}

const environment = (options) => new relay.Environment({
	network: relay.Network.create((params, variables) => post(params.text, variables)),
	store: new relay.Store(new relay.RecordSource()), ...options,
});
const load = (env, name, variables) => relay.fetchQuery(env, artifact(name), variables, { fetchPolicy: 'network-only' }).toPromise();

// both fetches an order and a user with the same stored id, and returns what the store holds.
async function both(env, order, user) {
	const data = await load(env, 'appBothQuery', { order, user });
	const source = env.getStore().getSource();
	const records = source.getRecordIDs().map((id) => source.get(id)).filter((r) => r.cents !== undefined || r.name !== undefined);
	return { data, records };
}

const mixed = (records) => records.filter((r) => r.cents !== undefined && r.name !== undefined).length;

// read returns the data of a fragment below the data of a query or another fragment.
function read(env, name, ref) {
	return env.lookup(relay.getSingularSelector(artifact(name), ref)).data;
}

async function global() {
	const env = environment();
	const ids = (await post('{ orders(first: 1) { nodes { id } } users(first: 1) { nodes { id } } }')).data;
	const { data, records } = await both(env, ids.orders.nodes[0].id, ids.users.nodes[0].id);
	assert.deepEqual([data.order.cents, data.user.name], [100, 'user 1']);
	assert.deepEqual([records.length, mixed(records)], [2, 0]);
	console.log('ok  an order and a user with the same stored id are two records');

	// The pages of a connection, as usePaginationFragment loads them.
	const root = await load(env, 'appOrdersQuery', {});
	const { refetchableRequest } = relay.getRefetchMetadata(artifact('app_orders'), 'use');
	const paging = relay.getPaginationMetadata(artifact('app_orders'), 'use').paginationMetadata;
	const sizes = [];
	let page;
	do {
		page = read(env, 'app_orders', root).orders;
		sizes.push(page.edges.length);
		const variables = relay.getPaginationVariables('forward', 2, page.pageInfo.endCursor, {}, {}, paging);
		if (page.pageInfo.hasNextPage) {
			await relay.fetchQuery(env, refetchableRequest, variables, { fetchPolicy: 'network-only' }).toPromise();
		}
	} while (page.pageInfo.hasNextPage && sizes.length < 10);
	assert.deepEqual(sizes, [2, 4, 5]);
	const orders = () => read(env, 'app_orders', root).orders.edges.map((e) => read(env, 'app_order', e.node));
	assert.deepEqual(orders().map((o) => [o.cents, o.customer.name]),
		[1, 2, 3, 4, 5].map((i) => [100 * i, `user ${i}`]));
	console.log('ok  a connection of 5 orders in pages of 2, with their customers');

	// The fragment of one order is fetched again by its id, and the list shows the new value.
	const second = orders()[1];
	await post('mutation ($id: ID!) { patchOrder(id: $id, input: { cents: 7 }) { id } }', { id: second.id });
	const refetch = relay.getRefetchMetadata(artifact('refetch_order'), 'use');
	await relay.fetchQuery(env, refetch.refetchableRequest, { id: second.id }, { fetchPolicy: 'network-only' }).toPromise();
	assert.equal(orders()[1].cents, 7);
	console.log('ok  @refetchable reads an order with node(id:), and the list has its new value');
}

async function plain() {
	const { records } = await both(environment(), '1', '1');
	assert.deepEqual([records.length, mixed(records)], [1, 1]);
	console.log('ok  control: without global ids the order and the user are one record');
	const getDataID = (record, type) => record.id && `${type}:${record.id}`;
	const apart = await both(environment({ getDataID }), '1', '1');
	assert.deepEqual([apart.records.length, mixed(apart.records)], [2, 0]);
	console.log('ok  with getDataID of the README they are two');
}

(mode === 'global' ? global() : plain()).catch((err) => { console.error(err); process.exit(1); });
