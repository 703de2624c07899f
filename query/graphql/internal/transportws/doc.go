// Package transportws implements graphql-transport-ws, the protocol of GraphQL over WebSocket, as
// specified by PROTOCOL.md of the npm package graphql-ws. It handles messages and operation ids. A
// [Handler] executes the operations.
//
// A [Server] serves requests that ask for a WebSocket:
//
//	server := transportws.New(handler, nil)
//	if transportws.Asked(r) {
//		server.ServeHTTP(w, r)
//	}
//
// # Resources of a socket
//
// ServeHTTP returns after the upgrade, so that net/http and middleware release the memory of the
// request. A socket then has a goroutine that reads, a goroutine for each running operation, and a
// timer. The goroutine that has a message writes it. Buffers are pooled and in use only while a
// message is read or written. An idle socket with one subscription uses about 14 KiB, as TestMemory
// measures.
//
// Results are not copied. A socket writes the envelope and the result as one frame, with one system
// call.
//
// # Closing
//
// Sockets are closed with the constants of this package as codes, and a reason of at most 123 bytes
// (RFC 6455 section 5.5). A client that does not read a message within [Options.Write] is closed
// with [TryAgainLater]; the connection is dropped one second later. Other clients do not wait for
// it. A client that does not respond to pings is dropped.
//
// An [http.Server] does not track upgraded connections when it shuts down. This package registers
// with the server and closes its sockets. Operations with a single result complete. The contexts of
// streams are canceled with [ErrGoingAway] as cause; they may yield a last result, but no complete
// message is sent, because a client would then not resume them. Finally the socket is closed with
// [GoingAway], after which clients reconnect. [Server.Shutdown] waits for all sockets.
package transportws
