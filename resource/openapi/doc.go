// Package openapi describes a [resource.Catalog] as an OpenAPI 3.1 document and serves it.
//
// The document is generated from the catalog: the schemas of its resources, the capabilities of
// their collections and their policies.
//
//	doc := openapi.New(catalog, &openapi.Options{Title: "Shop"})
//	mux.Handle("/openapi.json", doc)
//
// If a [version.Negotiator] serves several catalogs, each contract has a document of its own. It
// describes how a request names the contract, and its status:
//
//	doc := openapi.New(old, &openapi.Options{Title: "Shop", Contract: "1.0.0", Negotiator: api})
//	mux.Handle("/openapi/1.0.0.json", doc)
//
// # Content of the document
//
// An item has up to four schemas. Order is the schema of responses. It is open, because a minor
// version may add members. OrderCreate, OrderReplace and OrderPatch are the schemas of POST, PUT
// and PATCH bodies. They are closed, because unknown members are rejected, and they differ in the
// members that are allowed and required.
//
// A parameter or a status is listed if this resource supports it. The response default represents
// all other problems, such as those of the application.
//
// A command has an Input, which is closed, and a Result, which is open. Its options list the
// additional responses. If a collection supports batches, its POST also accepts a Batch. Blobs have
// media types only, no schema.
//
// HEAD is not listed. It is available for each GET, with the same parameters and header fields.
//
// # Implementation
//
// document.go walks through the catalog. operations.go and the files next to it describe single
// operations of a collection, batches.go several operations in one request. lookups.go, commands.go
// and blobs.go describe the other parts. schemas.go converts a [schema.Type], samples.go and
// invented.go produce the examples, and versions.go describes the Negotiator. model.go has the
// types of the format.
package openapi
