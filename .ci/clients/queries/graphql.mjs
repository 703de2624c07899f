// Apollo Client and urql with searches, groups and pages of related items: graphql.mjs URL. Each check prints a line, and the
// first that fails ends the program. Both clients must return the same data.
import assert from 'node:assert/strict'
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import { Client, cacheExchange, fetchExchange } from '@urql/core'
import { parse } from 'graphql'

const url = process.argv[2]

// pages makes each connection of related items one list in the cache, per filter and order.
const pages = { fields: { ordersConnection: relayStylePagination(['filter', 'orderBy']) } }
const apollo = new ApolloClient({
	link: new HttpLink({ uri: url }),
	cache: new InMemoryCache({ typePolicies: { User: pages } }),
})
const urql = new Client({ url, exchanges: [cacheExchange, fetchExchange], preferGetMethod: false })

const withoutTypes = (value) => JSON.parse(JSON.stringify(value, (key, v) => (key === '__typename' ? undefined : v)))

// both runs a query with both clients and returns the data that both have.
async function both(text, variables = {}) {
	const query = parse(text)
	const { data } = await apollo.query({ query, variables })
	const answer = await urql.query(query, variables).toPromise()
	assert.equal(answer.error, undefined, String(answer.error))
	assert.deepEqual(withoutTypes(answer.data), withoutTypes(data))
	return withoutTypes(data)
}

async function groups() {
	const { placesAggregate: page } = await both(`query ($after: String) {
		placesAggregate(groupBy: [country], having: { count: { gte: 10 } }, first: 3, after: $after,
			orderBy: [{ field: sum_population, direction: DESC }]) {
			nodes { country count sum { population } } pageInfo { hasNextPage endCursor }
		}
	}`)
	assert.equal(page.nodes.length, 3)
	assert.ok(page.nodes[0].sum.population >= page.nodes[1].sum.population)
	assert.equal(page.pageInfo.hasNextPage, true)
	const { ordersAggregate: paid } = await both(`{
		ordersAggregate(filter: { customer: { role: { eq: customer } } }, groupBy: [status]) { nodes { status count } }
	}`)
	assert.ok(paid.nodes.length > 0)
	console.log('ok  groups of places and orders, with conditions on groups and on related items')
}

async function search() {
	const { places } = await both(`query ($text: String!) {
		places(search: $text, first: 2) { nodes { name } pageInfo { hasNextPage endCursor } }
	}`, { text: 'san francisco' })
	assert.ok(places.nodes.length > 0 && places.nodes.every((p) => /san francisco/i.test(p.name)), JSON.stringify(places.nodes))
	console.log('ok  a search of places')
}

// ordersOf has a page of the orders of each user, with its own total.
const ordersOf = `query ($first: Int!, $after: String, $id: ID!) {
	user(id: $id) { id ordersConnection(first: $first, after: $after, orderBy: [{ field: id, direction: DESC }]) {
		totalCount edges { node { id status } } pageInfo { hasNextPage endCursor }
	} }
}`

async function related() {
	const create = 'mutation { createOrder(input: { customerId: 2, lines: [{ itemId: 7, qty: 1 }] }) { id } }'
	for (let i = 0; i < 5; i++) {
		const { data, error } = await urql.mutation(create, {}).toPromise()
		assert.ok(data, String(error))
	}
	const { users } = await both(`{
		users(first: 10) { nodes { id ordersConnection(first: 2) { totalCount nodes { id } pageInfo { hasNextPage } } } }
	}`)
	const ann = users.nodes.find((u) => u.ordersConnection.totalCount > 2)
	assert.equal(ann.ordersConnection.nodes.length, 2)
	assert.equal(ann.ordersConnection.pageInfo.hasNextPage, true)

	// The pages that are fetched become one list in the cache.
	const variables = { id: ann.id, first: 2 }
	const query = parse(ordersOf)
	for (let after, more = true; more;) {
		const { data } = await apollo.query({ query, variables: { ...variables, after }, fetchPolicy: 'network-only' })
		const { endCursor, hasNextPage } = data.user.ordersConnection.pageInfo
		after = endCursor
		more = hasNextPage
	}
	const { user } = apollo.cache.readQuery({ query, variables })
	const ids = user.ordersConnection.edges.map((e) => e.node.id)
	assert.equal(ids.length, user.ordersConnection.totalCount)
	assert.deepEqual(ids, [...new Set(ids)].sort((a, b) => b - a))
	console.log(`ok  ${ids.length} orders of a user in pages of 2, with their total`)
}

await groups()
await search()
await related()
