// A fragment that relay-compiler refetches with the field node.
import { graphql } from 'relay-runtime';

graphql`fragment refetch_order on Order @refetchable(queryName: "refetchOrderQuery") { id cents }`;
