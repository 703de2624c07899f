// Package coerce makes Go values of what clients give: literals in documents and variables in JSON.
//
// It is for query/graphql alone, which uses it in place of graphql-go's own coercion. That one takes "12" for an Int and
// drops nulls; this one is strict (GraphQL, section 3.5 and following) and keeps apart what is absent, what is null and
// what has a value.
package coerce
