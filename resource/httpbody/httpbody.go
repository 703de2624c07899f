// Package httpbody reads request bodies and writes response bodies for HTTP APIs.
//
// A handler checks the header fields of a body first, and then reads the body into a pooled buffer.
// Each error is or wraps a [*problem.Details] with the status code and the header fields that RFC
// 9110 requires, so the handler can pass it to [problem.Write]:
//
//	if err := httpbody.Check(r, limit); err != nil { // Content-Encoding, Content-Length
//		return err
//	}
//	buf := buffers.Get()
//	defer buffers.Put(buf)
//	var err error
//	if *buf, err = httpbody.Append(*buf, r, limit); err != nil { // decompressed
//		return err
//	}
//
// An [Upload] is a body that a store reads as a stream. [AppendGzip] and [NewGzipWriter] compress a
// response. [Document] and [Serve] respond to GET and HEAD with content that has an entity tag.
//
// REST, GraphQL and OpenAPI use this package, so they accept the same bodies. The package imports
// only header and problem, and does not depend on resources.
package httpbody
