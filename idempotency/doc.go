// Package idempotency implements the Idempotency-Key header field
// (draft-ietf-httpapi-idempotency-key-header-08): a client can repeat a request, and its effect
// occurs once.
//
// A client sends a key with a request. An [Operation] is the key together with the principal, the
// method and the target. A [Record] is the stored outcome of an operation, and a [Store] holds
// records. A [Guard] claims the operation in the store before it runs, and stores the record
// afterwards. A client that received no response repeats the request with the same key and receives
// the recorded response:
//
//	guard := idempotency.New(idempotency.NewMemory(nil), nil)
//	opts := &resource.CatalogOptions{Idempotency: guard, Principal: middleware.Principal}
//	catalog := resource.NewCatalog(opts, orders, users)
//	log.Print(catalog.Report()) // lists the guarantee of each collection
//
// A catalog determines the principal, the meaning and the transaction of each request. [Guard.Wrap]
// serves any other handler, with a weaker guarantee. Code without HTTP, such as a consumer of a
// message queue, calls [Guard.Do].
//
// # Guarantees
//
// The guarantee is a [Level]. It depends on whether the record and the effect commit in one
// transaction. If they do, the effect occurs exactly once. If the operation creates an item with an
// id derived from the key ([DeriveID]), it occurs once by identity. Otherwise it occurs at most
// once: after a crash the outcome may be unknown, and the client is informed of that. Effects in
// other systems, such as a payment or a mail, are not part of any transaction. Pass [DeriveKey] to
// such a system, or write the request to a table in the transaction and send it after the commit.
//
// # Responses
//
//   - The recorded response with Idempotency-Replayed: true, if the first request had an effect, or
//     if its refusal was recorded ([RecordRefusal]). Other refusals had no effect, and the repeated
//     request is evaluated again.
//   - 409 request-in-flight with Retry-After while the first request is running. In the same
//     process a repeated request first waits up to [Options.WaitTimeout].
//   - 409 outcome-unknown if it cannot be determined whether the first request had an effect. 503
//     outcome-unknown if a repetition can determine it.
//   - 422 idempotency-key-reused for a different request with the same key. The response reveals
//     nothing about the first.
//   - 400 for a missing key that is required, an invalid key or an expired one. 429 for too many
//     keys. 503 if the store fails.
//
// # Stores
//
// [NewMemory] serves one process. Package sqlrecords stores records in the database of the data,
// which makes its collections exactly once. Package redisrecords, a nested module, shares records
// between processes without such a database. Package idempotencytest has the conformance tests for
// other stores.
package idempotency
