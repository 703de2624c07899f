// Package openapi describes a [resource.Catalog] as an OpenAPI document and serves it.
//
// The document is generated from the catalog: the schemas of its resources, the capabilities of
// their collections and their policies.
//
//	doc := openapi.New(catalog, &openapi.Options{Title: "Shop"})
//	mux.Handle("/openapi.json", doc)
//	mux.Handle("/openapi.yaml", doc)
//
// The document has several variants. The parameter openapi selects the version of OpenAPI, which is
// 3.0, 3.1 (the default) or 3.2. So does the media type, as in Accept:
// application/openapi+json;version=3.0. The path or Accept selects JSON or YAML, see
// [Document.ServeHTTP]. [Document.Render] returns a variant without a request.
//
// # Profiles
//
// The default profile is for generated clients. Each status has one schema, all members that a
// response always has are required, and all errors are the response default. It leaves out OPTIONS,
// conditional reads, the parameters fields and before, most preferences and header fields, exports
// of lines, feeds, batches, JSON Patch, and vendor media types unless they have to name the contract.
// PATCH has a merge patch.
//
// Filters by equality are parameters of the same name. All other comparisons are members of one
// object, where, in style form and exploded: the URL is ?role=clerk&population.gte=1000000, and the
// name of the object is not part of it. oapi-codegen, ogen and hey-api write this form, and lists in
// sort and expand, without configuration. openapi-fetch needs
//
//	querySerializer: {array: {style: "form", explode: false}, object: {style: "form", explode: true}}
//
// The full profile, selected by the parameter profile=full or by [Variant.Full], describes
// everything that the API supports. Validators and proxies should use it. Because of the parameter
// fields, no member of an item is required in it.
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
// In the full profile, a parameter or a status is listed if this resource supports it. The response
// default represents all other problems, such as those of the application.
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
// invented.go produce the examples, and versions.go describes the Negotiator. profile.go simplifies
// the document for the default profile, and dialect.go converts it to a version of OpenAPI. model.go
// has the types of the format.
package openapi
