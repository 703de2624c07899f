// Package openapi describes a [resource.Catalog] as an OpenAPI 3.1 document, and serves it.
//
// The document is made from what the catalog itself is made of: the schemas of its resources, what their collections can
// do, and what their policies are. So it cannot say what the catalog does not do:
//
//	doc := openapi.New(catalog, &openapi.Options{Title: "Shop"})
//	mux.Handle("/openapi.json", doc)
//
// Where a [version.Negotiator] stands before several catalogs, each contract has a document of its own, which says how
// this contract is named and where it is in its life:
//
//	doc := openapi.New(old, &openapi.Options{Title: "Shop", Contract: "1.0.0", Negotiator: api})
//	mux.Handle("/openapi/1.0.0.json", doc)
//
// # What a reader of the document should know
//
// An item has up to four schemas. Order is what is answered: further members may come with a minor version, so it is open.
// OrderCreate, OrderReplace and OrderPatch are what is sent with POST, PUT and PATCH: members that are not in them are
// refused, so they are closed, and they differ in what may be there and what must.
//
// A parameter or a status is in the document if this resource has it. Everything else that can be answered is the
// response default: a problem like all the others, of a type that only the application knows.
//
// Commands have an Input, which is closed, and a Result, which is open. What they may be answered with beside what the
// library itself says is in their options. Where several writes can be one, POST takes a Batch as well. Bytes have no
// schema: their media types are all that is said of them.
//
// HEAD is not listed. It is there wherever GET is, with the same parameters and header fields.
//
// # Inside
//
// document.go goes through the catalog; operations.go and its neighbours describe one operation of a collection, batches.go
// what several can be together; lookups.go, commands.go and blobs.go are the other parts. schemas.go is the printer of
// [schema.Type], samples.go and invented.go have the examples, and versions.go knows the Negotiator. model.go has the
// objects of the format.
package openapi
