// Package idempotency lets clients repeat a request without doing it twice.
//
// Its nouns are a key, by which a client calls one thing that it wants done; an [Operation], the key together with whose it
// is and what it is for; a [Record], what became of it; a [Store], where records are kept; and the [Guard], who asks the
// store before anything is done and tells it afterwards. A client that got no answer sends the request again with the same
// Idempotency-Key, and gets the answer that it missed:
//
//	keeper := idempotency.New(idempotency.NewMemory(nil), nil)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Once: keeper, Principal: middleware.Principal}, orders, users)
//	log.Print(catalog.Report()) // says what a key is worth for each collection
//
// A catalog knows whose a request is, what it means and in which transaction it happens. Any other handler is served by
// [Guard.Wrap], which knows less and says so. Doors of other kinds, for messages from a queue or for jobs, call [Guard.Do].
//
// # What a key is worth
//
// That depends on what the record can share with the effect, and is a [Level]: exactly once where both are written in one
// transaction; once by identity where what is created gets an id that follows from the key ([DeriveID]); and at most once
// where there is neither, so that after a crash nobody can know, and the client is told just that. Effects elsewhere, such as
// a mail, are outside of every transaction: give the other service [DeriveKey], or write what is to be sent into the
// transaction and send it behind.
//
// # What a client gets
//
//   - The answer to the first request, with Idempotency-Replayed, if that did something, or if what was refused is kept
//     ([RecordRefusal]). Other refusals did nothing: the request is looked at anew.
//   - 409 request-in-flight, with Retry-After, while the first is not finished. Copies in one process wait a little before.
//   - 409 outcome-unknown if nobody knows whether it was done, and asking again will not tell; 503 outcome-unknown if it will.
//   - 422 idempotency-key-reused for another request under the key. It says nothing of the first.
//   - 400 for no key where one is required, and for one that is none or too old; 429 for too many; 503 if the store fails.
//
// # Where records are
//
// [NewMemory] is for one process. Package sqlrecords keeps them in the database of the data, which makes its collections
// exactly once. Package redisrecords, a module of its own, is for several processes whose data is in no such database. For a
// store of one's own there is package idempotencytest.
package idempotency
