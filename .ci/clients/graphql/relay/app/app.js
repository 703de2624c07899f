// The documents of an application, which relay-compiler reads. Nothing executes this file.
import { graphql } from 'relay-runtime';

graphql`query appBothQuery($order: ID!, $user: ID!) {
	order(id: $order) { id cents }
	user(id: $user) { id name }
}`;

graphql`query appOrdersQuery { ...app_orders }`;

graphql`fragment app_orders on Query @refetchable(queryName: "appOrdersPageQuery")
	@argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" }) {
	orders(first: $first, after: $after) @connection(key: "app_orders") {
		edges { node { id ...app_order } }
	}
}`;

graphql`fragment app_order on Order { id cents customer { id name } }`;
