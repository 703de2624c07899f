// relay-runtime with the compiled documents: use.js URL. The ids of the shop are not global, so the store adds the type.
const assert = require('node:assert/strict');
const relay = require('relay-runtime');

const url = process.argv[2];
const artifact = (name) => require(`./__generated__/${name}.graphql`);

async function post(query, variables) {
	const response = await fetch(url, {
		method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query, variables }),
	});
	const result = await response.json();
	assert.equal(result.errors, undefined, JSON.stringify(result.errors));
	return result;
}

const env = new relay.Environment({
	network: relay.Network.create((params, variables) => post(params.text, variables)),
	store: new relay.Store(new relay.RecordSource()),
	getDataID: (record, type) => (record.id === undefined ? null : `${type}:${record.id}`),
});
const load = (name, variables) => relay.fetchQuery(env, artifact(name), variables, { fetchPolicy: 'network-only' }).toPromise();
const read = (name, ref) => env.lookup(relay.getSingularSelector(artifact(name), ref)).data;

async function main() {
	const { placesAggregate: groups } = await load('appGroupsQuery', {});
	const counts = groups.edges.map((e) => e.node.count);
	assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
	assert.equal(counts.length, 3);
	console.log('ok  Relay reads groups of places');

	const { places } = await load('appSearchQuery', { text: '"san francisco"' });
	assert.ok(places.edges.length > 0 && places.edges.every((e) => /san francisco/i.test(e.node.name)));
	console.log('ok  Relay searches places');

	// The pages of a connection, which the store appends to each other.
	const { users } = (await post('{ users(first: 10) { nodes { id ordersConnection(first: 1) { totalCount } } } }')).data;
	const { id } = users.nodes.find((u) => u.ordersConnection.totalCount > 2);
	const { user } = await load('appUserQuery', { id });
	let page = read('app_orders', user).ordersConnection;
	assert.equal(page.edges.length, 2);
	for (let i = 0; page.pageInfo.hasNextPage && i < 50; i++) {
		await load('appOrdersPageQuery', { id, first: 2, after: page.pageInfo.endCursor });
		page = read('app_orders', user).ordersConnection;
	}
	assert.equal(page.edges.length, page.totalCount);
	assert.equal(new Set(page.edges.map((e) => e.node.id)).size, page.totalCount);
	console.log(`ok  Relay appends ${page.totalCount} orders of a user in pages of 2`);
}

main().catch((err) => { console.error(err); process.exitCode = 1; });
