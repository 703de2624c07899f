// Package resource is the core of Stoa: it turns a collection of items into a resource with schema, policy, validation,
// transactions, idempotency keys, older contracts and change feeds, which protocols serve.
//
// Its nouns are a [Collection], which a team implements over its own storage; an [Item] of it, a value with a [Rev]; a
// [Resource], the collection with schema and policy; and a [Catalog], the resources served together:
//
//	type Note struct {
//		ID   string `json:"id" readOnly:"true"`
//		Text string `json:"text" required:"true" maxLength:"500"`
//	}
//
//	notes := memory.New[Note](nil) // or your own store
//	catalog := resource.NewCatalog(nil, resource.New("notes", notes, nil))
//	http.ListenAndServe("localhost:8080", rest.New(catalog, nil))
//
// Package rest serves a catalog as REST, package graphql as GraphQL, and package openapi describes it.
//
// # If you implement a store
//
// Implement [Collection], two methods. Add a capability, an interface of one method, for everything more that the store
// can do: [Creator] for POST, [Replacer] for PUT and PATCH, [Deleter] for DELETE, and so on. Whatever it implements is
// served, and nothing else. Then run the kit of package resourcetest against it. The checklist:
//
//   - Every write is a compare-and-swap on the revision that was read, in one atomic step. A stale revision writes
//     nothing and returns [ErrStale].
//   - A revision is never used twice for an id; see [NewRev].
//   - Values go in and out as copies.
//   - Errors are the sentinels of this package, bare or wrapped, and [Taken] and [Invalid] for fields.
//   - List yields in the order asked, ends at the limit, and yields nothing after an error.
//
// # If you serve one
//
// [New] returns the Resource, [Options] declare policy and queries, [NewCatalog] puts resources together for the protocols.
//
// # If clients listen
//
// Give CatalogOptions a Feed, of package feed, and every write becomes an event. [Resource.Watch] yields what they are to
// somebody: in a shape, as far as policy and a filter let that one see. A store that has a stream of changes by itself is a
// feed.Watcher, and is listened to in place of that.
//
// # If something is more than a write
//
// Package command serves a function as an action: its input is validated like an item, and the policy is checked before the
// function is called. Package blob serves binary content. Both are kinds of [Part], and an application can add others.
//
// # If you have more than one contract
//
// [View] serves a Resource in the shape of an older contract, in chains if need be: one collection, one policy, one write
// loop. Make one Catalog for each contract, and a version.Negotiator hands each request to the one that it names; entity
// tags, media types, links and cursors then say which it was.
//
// # If clients want to know what changes
//
// Give the Catalog a [feed.Feed]: every write is then an event, and whoever asks a collection or an item for text/event-stream
// is told of it, in the shape of the contract asked, as far as policy lets that one see. Nobody misses anything, or is told so.
//
// # If you write a protocol
//
// The methods of Resource are the only way to a collection, so policy, validation and the retry loop, in which no update is
// lost, hold for every protocol. [Problem] returns what a client is told about an error of theirs. A [Key] is an argument of
// every write.
package resource
