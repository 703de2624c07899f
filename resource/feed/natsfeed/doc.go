// Package natsfeed publishes an event log through NATS JetStream, so that many processes can follow
// it while only one reads the database.
//
// The log in the database remains the source of truth. Events are appended there, in the
// transaction of the change, and published to NATS after the commit. One process reads the database
// and publishes; all others read the stream.
//
//	nc, err := nats.Connect(servers)
//	js, err := jetstream.New(nc)
//	log := natsfeed.New(sqlfeed.New(db, nil), js, &natsfeed.Options{Replicas: 3})
//	go log.Run(ctx)
//	changes := feed.New(log, nil)
//
// Use it if a dozen or more processes would poll the database ten times a second each, or if many
// reconnecting clients would read their backlog from the database. With fewer processes the log
// alone is simpler and has the same result.
//
// # The stream
//
// The stream has one message per event, in the order of the log. It needs NATS servers of version
// 2.11 or later. Each message carries its cursor and the previous one, so a reader detects gaps.
// The Nats-Msg-Id is the cursor, and each publish names the expected last sequence number, so no
// event is stored twice even with several publishers. Events larger than the maximum payload have a
// message without content and are read from the log.
//
// # Leadership
//
// Each process runs a relay, and one of them publishes. A relay that finds its messages already
// stored stops publishing. It takes over when the log has new events and the stream has not, within
// twice [Options.Check]. No lease is needed, because the stream itself stores each event once.
//
// # Failures of NATS
//
// Cursors are those of the log, so a reader can switch between stream and log at any position.
// Positions that the stream lacks are read from the log. So is everything while the stream is
// unavailable, Run is not running, or no relay publishes. If the stream was deleted or has lost its
// end, or if the log was restored from a backup, the stream starts again at the head of the log.
// Running processes detect a restored backup within [Options.Check].
//
// NATS may therefore lose messages. By default a server syncs its files every two minutes
// (sync_interval), so a cluster that loses power on all machines loses acknowledged messages. With
// this package no event is lost; the affected positions are read from the database. Only other
// users of the stream need sync_interval: always.
package natsfeed
