// Package httpbody reads request bodies and writes response bodies for HTTP APIs.
//
// A handler that reads a body checks its header fields first, and then reads it into a pooled
// buffer. Each error is a [*problem.Details] with the status code and the fields that RFC 9110
// asks for, or wraps one, so that the handler can pass it to [problem.Write]:
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
// [Upload] is for a body that a store reads as a stream. [AppendGzip] and [NewGzipWriter] compress
// a response, and [Document] and [Serve] answer GET and HEAD with content that has an entity tag.
//
// REST, GraphQL and OpenAPI use this package, so they accept and refuse the same bodies. It knows
// no resources and imports only header and problem.
package httpbody
