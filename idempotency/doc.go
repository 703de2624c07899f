// Package idempotency lets clients repeat a request without doing it twice.
//
// Its nouns are a Key, by which a client calls one thing that it wants done; an Operation, the key together with whose it
// is and what it is for; a Record, what became of it; a Store, where records are kept; and the Keeper, who asks the store
// before anything is done and tells it afterwards. A client that got no answer sends the request again with the same
// Idempotency-Key, and gets the answer that it missed:
//
//	keeper := idempotency.New(idempotency.NewMemory(nil), nil)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Once: keeper, Principal: middleware.Principal}, orders, users)
//	log.Print(catalog.Report()) // says what a key is worth for each collection
//
// A catalog knows whose a request is, what it means and in which transaction it happens. Any other handler is served by
// [Keeper.Wrap], which knows less and says so.
//
// # What a key is worth
//
// That depends on what the record can share with the effect, and is a [Level]: exactly once where both are written in one
// transaction; once by identity where what is created gets an id that follows from the key; and at most once where there is
// neither, so that after a crash nobody can know, and the client is told just that.
package idempotency
