// Package transportws speaks graphql-transport-ws, the protocol of GraphQL over WebSocket (PROTOCOL.md of the npm package
// graphql-ws), for query/graphql. It knows messages and ids; what an operation means is for its [Handler].
//
// A [Server] takes over requests that ask for a WebSocket:
//
//	server := socket.New(handler, nil)
//	if socket.Asked(r) {
//		server.ServeHTTP(w, r)
//	}
//
// # What a socket costs
//
// ServeHTTP returns once the connection is upgraded, so that what net/http and the middleware around it hold for a request
// is given back. A socket is then one goroutine that reads, one for each live operation, and a timer; whoever has a message
// writes it. Buffers are borrowed while a message is read or written. TestMemory says what is left: about 14 KiB for an
// idle socket with one subscription.
//
// The results of operations are shared: a socket writes what stands around them and the bytes themselves in one
// frame and one system call, and keeps nothing.
//
// # How sockets end
//
// With the close codes of the protocol, which are the constants of this package, each with a reason of at most 123 bytes
// (RFC 6455 section 5.5). A peer that does not take a message within [Options.Write] is closed with [TryAgainLater], and
// told so if it wakes up within a second; behind that it is cut off, and nobody else waits for it. One that does not answer pings is dropped.
//
// When an [http.Server] is shut down, it forgets connections that were upgraded. The sockets that came over it are told
// nevertheless: operations with one result are answered; streams see their context end with [ErrGoingAway] and may say a last word,
// but are not completed, since for a client that would be their end: it is to come back and go on. Then the socket is closed
// with [GoingAway], on which clients connect again. [Server.Shutdown] waits for that.
package transportws
