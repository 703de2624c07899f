// Package graphql serves a catalog as a GraphQL API. The schema is derived from Go types at
// start-up, without schema files and generated code.
//
// [New] returns a [Handler], configured by [Options] with [Limits] and [Socket]. A [Field] adds a
// custom field to the schema. [Documents] restricts a server to known documents. A catalog that is
// served over REST needs one more line:
//
//	catalog := resource.NewCatalog(nil,
//		resource.New("orders", orders, &resource.Options[Order]{
//			Query:     query.Support{Filter: map[string][]query.Op{"status": {query.Eq}}},
//			Relations: []resource.Relation[Order]{{Name: "customer", Target: "users", Field: "customerId"}},
//		}),
//		resource.New("users", users, nil),
//	)
//	api := graphql.New(catalog, nil)
//	mux.Handle("/graphql", api)  // POST and GET; in a browser, the page
//	mux.Handle("/graphql/", api) // the schema: GET /graphql/schema.graphql
//	log.Print(api.Report())      // a summary of the schema, and weak settings
//
// It responds to
//
//	{ orders(filter: {status: {eq: paid}}, first: 2) { nodes { id total customer { name } } } }
//
// with one call of the store for each level of the query, regardless of the number of items.
//
// # The schema
//
// The type of the items of orders is Order, the name of their Go type (see [Options.Names]). The
// query root has the fields order(id) and orders(filter, search, orderBy, first, after, last, before),
// which is a connection. The mutation root has createOrder, replaceOrder, patchOrder and
// deleteOrder, depending on the capabilities of the collection, and a field for each command: POST
// /auth/login is authLogin(input).
//
// Filters and sort keys are those that the resource declares. Descriptions, defaults, enums and
// deprecations come from struct tags. An enum has the name of its Go type (type Episode string),
// and all members of this type share it. Without a named type it is named after the member, such as
// OrderStatus. A member that JSON omits because it is zero has its zero value in GraphQL. Structs,
// enums and types with text methods are null in this case. All root fields are nullable, so that an
// error of one does not discard the others.
//
// Each field calls methods of its Resource. Therefore Authorize, Scope, validation, read-only
// members and preconditions apply as in REST.
//
// # Global ids
//
// An id is unique within its type. A client that caches objects by id needs the name of the type
// too: getDataID of Relay's Environment, or dataIdFromObject of other clients. With
// [Options.GlobalIDs] the schema conforms to the GraphQL Global Object Identification Specification
// instead:
//
//	{ node(id: "b3JkZXJzOjE") { id ... on Order { rawId total } } }
//
// Each item type implements Node. Its field id is a global id: opaque for clients, and equal in all
// versions, because it is made of the name of the resource and the stored id. node(id) and
// nodes(ids), with at most 200 ids, read items of any type, one call of the store for each type if
// it is a resource.MultiGetter. Arguments named id, of order, patchOrder, deleteOrder, orderChanged
// and so on, accept the global id of an item of their resource. Another text is BAD_USER_INPUT; in
// nodes it makes its own item null, like an error of the store. An item that does not exist or is
// hidden is null. A global id grants no access.
//
// A member named id is the field rawId, in items, in their inputs, filters and sort keys, and in
// nested structs, so that each field id is a global id. Members that refer to other items, such as
// customerId, keep the stored id that REST has; select customer { id } for the global one. A change
// has nodeId, because with the same id it would be the same object as its item.
//
// # Limits
//
// [Limits] bounds a document before it is parsed, and validation before it is executed: its size,
// its depth, its number of fields with fragments expanded, and the number of objects it may fetch,
// computed from page sizes. If all clients are your own, set [Options.Trusted]; other documents are
// then rejected without being parsed.
//
// # HTTP
//
// Requests and responses conform to the GraphQL over HTTP specification. A request is a POST with
// application/json, or a GET with the parameters query, operationName, variables and extensions,
// for queries only. Accept selects application/graphql-response+json, with status 400 for request
// errors, or application/json, with status 200, which is also the default. A response to an
// executed operation has status 200, with or without field errors. Each error has a code in its
// extensions. The codes are the same for all protocols (package resource/problem). UNAVAILABLE
// means that the operation can be repeated after the member retryAfter, in seconds. Its value is
// that of Retry-After in REST.
//
// A request that is not a valid GraphQL request (400, 403, 405, 406, 413, 414, 415, 501) receives
// its status and a response with errors, because GraphQL clients do not read problem details. Only
// the schema and unknown paths respond with problem details.
//
// Responses to GET without errors have an ETag, and Cache-Control as in [Options.Cache]. Other
// responses have no-store. Large responses are compressed with gzip if the client accepts it.
// Request bodies may be compressed too.
//
// A browser sends the cookies of its user with requests that a page of another site makes.
// Therefore a cross-site POST is rejected with 403, and so is a GET without a header that requires
// a CORS preflight request. [Options.Origins] are exempt. Browsers send Sec-Fetch-Site over TLS
// only; a GET without it and without Origin is accepted, which is safe because queries have no side
// effects.
//
// # Subscriptions
//
// If the catalog has a feed (CatalogOptions.Feed of package resource), clients can subscribe to its
// resources:
//
//	subscription {
//		orderChanged(filter: {status: {eq: paid}}) { kind id cursor order { total customer { name } } }
//	}
//
// reports each change of a paid order. kind is CREATED if an order starts to match the filter or
// becomes visible to the caller, UPDATED if it changes, and DELETED if it no longer matches, with
// order null. Authorization is checked for each change with the current permissions. Related items
// have their state at the time of the message. A write over any protocol and in any version is one
// change, which each subscriber receives in its own version.
//
// Each message has a cursor. After an interruption, a client passes the cursor of the last message
// as after, and receives the changes since then in order and once. To keep a list up to date,
// select eventCursor in the list and subscribe with it as after. If the list has several pages, use
// the cursor of the first page. A change that the list already contains may be reported again and
// can be applied again. The code CURSOR_EXPIRED means that the changes after a cursor have been
// purged: read the list again.
//
// If a message contains no related items and computed fields, it is encoded once for all
// subscribers with the same document. [Limits] and Options.Timeout apply to each message. A field
// error is reported with the data of its message and does not end the subscription.
//
// # WebSocket and server-sent events
//
// The path of the handler supports the WebSocket subprotocol graphql-transport-ws of the npm
// package graphql-ws. It supports queries, mutations and subscriptions, with the same documents,
// limits, idempotency keys (in extensions) and errors as HTTP. The version is the one that the
// upgrade request selects. Clients are authenticated by middleware for the upgrade request, or by
// [Socket].Connect with the payload of connection_init, because browsers cannot set headers of a
// WebSocket. When the authorization expires, the socket is closed with 4403 and the client may
// reconnect. Pages of other origins are rejected unless they are in [Options.Origins]. A client
// that does not read for ten seconds is closed with 1013; it does not delay other clients. Other
// close codes are those of the protocol.
//
// A POST with Accept: text/event-stream receives server-sent events as specified by graphql-sse for
// distinct connections: an event next for each result, and complete at the end. A GET works too, as
// sent by an EventSource:
//
//	$ curl -N -H 'Accept: text/event-stream' -H 'Content-Type: application/json' localhost:8080/graphql \
//		-d '{"query":"subscription { orderChanged { kind id cursor } }"}'
//
// The id of an event is the cursor of the message, so that Last-Event-ID resumes. A stream that
// ends without complete should be resumed. This happens during a shutdown, and when the context of
// the request is done because middleware detected an expired token. A comment every fifteen seconds
// keeps the connection alive.
//
// Sockets and streams have no time limit. A middleware.Timeout or Limit around the handler needs
// its option Stream. The handler disables the server's WriteTimeout for them. [Handler.Shutdown]
// waits for sockets, which http.Server does not track:
//
//	err := middleware.Serve(ctx, server, listener, &middleware.ServeOptions{Then: api.Shutdown})
//
// # Idempotency keys
//
// A mutation with an Idempotency-Key is executed once, if the catalog stores keys
// (CatalogOptions.Idempotency of package resource). A retry receives the stored response, with the
// header Idempotency-Replayed. The key is in the header or in extensions.idempotencyKey and applies
// to the whole operation. Queries ignore keys. Subscriptions with a key are rejected, because their
// results are not stored.
//
//	$ curl -H 'Idempotency-Key: "7f3c"' -H 'Content-Type: application/json' localhost:8080/graphql \
//		-d '{"query":"mutation { createOrder(input: {customerId: \"ada\"}) { id } }"}'
//
// If all writes are in the database of the records (idempotency.ExactlyOnce), the operation runs in
// one transaction. An error of any field then rolls back all writes, data is null, and no record is
// stored, so the request can be retried. [Options.Timeout] and TransactionTimeout of the Guard
// limit the duration of the transaction. A mutation that cannot be rolled back has the guarantee of
// its resource or command. It must be the only mutation of the operation; otherwise the request is
// rejected with 400.
//
// Requests are equal if document, variables and version are equal; layout is ignored. A different
// request with the same key is rejected with 422. A replay returns the stored response in the media
// type that the retry accepts. Commands and all items in the response are authorized again. Errors
// of the key have the same status codes as in REST: 409, 429 and 503 with Retry-After. A request of
// a batch has the key of the batch with its index, such as key/0, or its own key.
//
// # Without HTTP
//
// [Handler.Execute] executes a [Request] in the same process, for tests, commands and consumers of
// queues, and [Handler.Subscribe] is an iterator over the messages of a subscription. Both apply the
// same limits, authorization and idempotency keys as HTTP. The context has the values that middleware
// would set:
//
//	res := api.Execute(ctx, graphql.Request{Query: `{ orders(first: 2) { nodes { id total } } }`})
//	var data struct{ Orders struct{ Nodes []Order } }
//	err := res.Decode(&data) // also if the response has errors
//
// # Versions
//
// A [version.Negotiator] routes to a Handler per version, each created from the catalog of its
// version. Any way to select a version is supported: path, host, header, parameter or media type.
// The name in vendor media types is graphql, as in application/vnd.shop.1.graphql+json. A batch
// cannot select its version in its content. The Negotiator rejects requests with problem details.
// Cached plans are not shared between versions.
package graphql
