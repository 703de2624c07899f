// Package graphql serves a catalog in GraphQL: its items, relations and commands as a schema that is reflected from Go
// types, with nothing to write by hand and nothing to generate.
//
// Its nouns are a [Handler], the door itself; [Options], among them [Limits] and [Socket]; a [Field], Go code that stands beside what
// the catalog has; and [Documents], the only ones that are answered where an application wants it so. A catalog of orders and
// users, which is served in REST already, is served here by one more line:
//
//	catalog := resource.NewCatalog(nil,
//		resource.New("orders", orders, &resource.Options[Order]{
//			Query:     query.Support{Filter: map[string][]query.Op{"status": {query.Eq}}},
//			Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}},
//		}),
//		resource.New("users", users, nil),
//	)
//	door := graphql.New(catalog, nil)
//	mux.Handle("/graphql", door)  // POST and GET; in a browser, the page
//	mux.Handle("/graphql/", door) // the schema: GET /graphql/schema.graphql
//	log.Print(door.Report())      // what can be asked, and what is weaker than it could be
//
// and answers
//
//	{ orders(filter: {status: {eq: paid}}, first: 2) { nodes { id total customer { name } } } }
//
// with the keys in the order asked, and one call of the store for each level, however many items it has.
//
// # The schema
//
// An item of orders is an Order, if that is what its Go type is called (see [Options.Names] otherwise). The root of queries
// has order(id) and orders(filter, orderBy, first, after, last, before), which is a connection; that of mutations has
// createOrder, replaceOrder, patchOrder and deleteOrder, as far as the collection can do that, and every command: POST
// /auth/login is authLogin(input). Only what a collection declares can be filtered and sorted by. Descriptions, defaults,
// enums and deprecations come from struct tags. The enum of a member is called like its Go type if that has a name of its
// own (type Episode string), and is then one for all that are of it; else like the member: OrderStatus. What JSON leaves out
// because it is zero is there in GraphQL, as a zero value; only a struct, an enum and a type with text methods are null
// then. All fields of the roots may be null, so that one that fails does not take the others with it.
//
// Every field calls the methods of the Resource that it is of: Authorize, Scope, validation, read-only fields and
// preconditions hold here as they do in REST, and no field goes round them.
//
// # What is refused
//
// A document is measured before it is parsed, and checked before it is executed: [Limits] bound its size, its depth, how
// many fields it has once fragments are counted, and, from the sizes of the pages that it asks for, how many objects it
// can be answered with. Whoever serves only applications of its own gives [Options.Trusted], and then nobody else's
// documents are even looked at.
//
// # Over HTTP
//
// Requests and answers are those of GraphQL over HTTP: POST with application/json, or GET with the parameters query,
// operationName, variables and extensions, for queries only. Accept chooses between application/graphql-response+json, in
// which a request that cannot be executed is 400, and application/json, in which it is 200 for the sake of old clients;
// without Accept it is the latter. What was executed is 200, with errors or without, whatever they are: there is no status
// for half an answer. Each error has a code in its extensions, of which there is one list for all doors (package
// resource/problem).
//
// A request that is not understood at all (400, 403, 405, 406, 413, 414, 415, 501) is answered with its status and the
// same {"errors": [...]}, since clients of GraphQL read nothing else. Only paths below the door, the schema and what is
// not there, answer problem details as a catalog does.
//
// Answers to GET without errors have an entity tag, are answered 304 if they are known, and are kept as [Options.Cache]
// says. Everything else is no-store. Large answers are compressed for those who take gzip; contents may be, too.
//
// A browser that is sent here by a page of another site carries its user's cookies. So a POST that comes from another site
// is 403, and so is a GET, unless it brings a header for which browsers ask permission; [Options.Origins] are exempt.
// Browsers say where they come from on connections with TLS; a GET on one without, that has no Origin either, is let
// through, which is harmless as long as queries change nothing.
//
// # Subscriptions
//
// Where the catalog has a Feed (CatalogOptions.Feed of package resource), each of its resources can be listened to:
//
//	subscription { orderChanged(filter: {status: {eq: paid}}) { kind id cursor order { total customer { name } } } }
//
// is told of each change of an order that is paid: CREATED when it begins to be, or when the caller begins to see it, UPDATED,
// and DELETED when it is not any more, with order null. Policy is asked for each change anew, with the rights of that
// moment, and so are related items, which are as they are when the change is told. Whatever the door or the contract of a
// write, it is one change, and told in the shape of the one who listens.
//
// A message has a cursor, the place behind its change: who was interrupted gives the last one that he has as after, and is
// told what he has missed, in its order and nothing twice. To keep a list up to date, ask for it with eventCursor, which is
// a place from before its rows were read, and go on from there, of several pages from that of the first; doing a change that
// the list has already changes nothing about it. An error with the code CURSOR_EXPIRED says that the changes behind a cursor are not kept any more: list
// anew.
//
// What a message shows of an item that no function or other item is asked for is written once for all who sent the same
// document, however many they are. Each message is within [Limits] and has the Timeout to itself, and an error of a field is
// told with its data, as in any answer; the next message comes all the same.
//
// # Over WebSocket, and as events
//
// The path of the door speaks graphql-transport-ws, the protocol of the npm package graphql-ws, to whoever asks for a
// WebSocket: subscriptions, and queries and mutations as well, with the same documents, limits, keys (in extensions) and
// errors as over HTTP. The contract is the one that the request for the upgrade names. Who is calling is what the middleware
// found out about that request, and what [Socket].Connect makes of connection_init, as browsers have nowhere else to put a
// token; when that expires the socket is closed with 4403, and the client comes back with a newer one. Pages of other
// origins are refused unless [Options.Origins] has theirs. A client that does not read for ten seconds is closed with 1013,
// without anybody else having waited. Other codes are those of the protocol.
//
// Where WebSockets do not get through, a POST with Accept: text/event-stream is answered as the distinct connections
// mode of graphql-sse has it, with an event next for each result and complete behind the last; so is a GET, which an
// EventSource sends:
//
//	$ curl -N -H 'Accept: text/event-stream' -H 'Content-Type: application/json' localhost:8080/graphql \
//		-d '{"query":"subscription { orderChanged { kind id cursor } }"}'
//
// Results of a subscription have their cursor as id, so that Last-Event-ID resumes. A stream is over with complete; one that
// ends without, since the server is about to end or since the context of the request is over, which is how a
// middleware says that a token has expired, is to be asked for anew. Comments every fifteen seconds show that it lives.
//
// Both are without end. A middleware.Timeout or Limit around the door has to be told by its Stream, and a server's
// WriteTimeout is lifted here. [Handler.Shutdown] waits for sockets, of which an http.Server knows nothing once they are
// upgraded:
//
//	err := middleware.Serve(ctx, server, listener, &middleware.ServeOptions{Then: door.Shutdown})
//
// # Keys
//
// A mutation with an Idempotency-Key is done once, if the catalog keeps keys (CatalogOptions.Idempotency of package resource): who
// sends it again gets the answer that it missed, with Idempotency-Replayed. The key stands in the header or in
// extensions.idempotencyKey, and belongs to all that the operation does. Queries have no use for one;
// for a subscription, whose results are not kept, it is refused.
//
//	$ curl -H 'Idempotency-Key: "7f3c"' -H 'Content-Type: application/json' localhost:8080/graphql \
//		-d '{"query":"mutation { createOrder(input: {customerId: \"ada\"}) { id } }"}'
//
// Everything happens in one transaction if all of it is in the database of the records, which is idempotency.ExactlyOnce
// there: then an error of any field takes all of it back, data is null, and nothing is remembered, so that the same may be
// tried again. Such a transaction may take as long as [Options.Timeout] and Options.Transaction of the Guard say. A mutation
// that cannot be taken back is kept at the level that it has, and only if it is the only one: beside others it is 400.
//
// The same is the same document, whatever its layout, with the same variables under the same contract; another under the key
// is 422. A replay is the answer as it was, in the form that is asked for now; only policy is asked again, about the
// commands and about every item that it shows something of. Refusals of the key have the statuses that they have in REST, in either media type, so
// that programs see when to come again: 409, 429 and 503 have Retry-After. In a batch each request has the key of the batch
// with its place, key/0 and so on, or one of its own.
//
// # Contracts
//
// A [version.Negotiator] takes a Handler for each contract, made of the contract's catalog, under whatever path, host,
// header field, parameter or media type names it: as content and answer in the types of a vendor they are called graphql,
// as in application/vnd.shop.1.graphql+json. A batch names its contract anywhere but in its content, and what the
// Negotiator refuses is a problem, as it is for every handler. Nothing of a contract is kept with the plans of another.
package graphql
