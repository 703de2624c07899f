// The documents of an application, which relay-compiler reads. Nothing executes this file.
import { graphql } from 'relay-runtime';

graphql`query appGroupsQuery {
	placesAggregate(groupBy: [country], orderBy: [{ field: count, direction: DESC }], first: 3) {
		edges { node { country count max { population } } }
	}
}`;

graphql`query appSearchQuery($text: String!) { places(search: $text, first: 5) { edges { node { id name } } } }`;

graphql`query appUserQuery($id: ID!) { user(id: $id) { id ...app_orders } }`;

graphql`fragment app_orders on User @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" }) {
	ordersConnection(first: $first, after: $after, orderBy: [{ field: id, direction: DESC }])
		@connection(key: "app_ordersConnection") {
		totalCount
		edges { node { id status } }
	}
}`;

graphql`query appOrdersPageQuery($id: ID!, $first: Int, $after: String) {
	user(id: $id) { id ...app_orders @arguments(first: $first, after: $after) }
}`;
