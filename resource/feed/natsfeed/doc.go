// Package natsfeed passes a log of events on through NATS JetStream, so that many processes can follow it at the cost of one.
//
// The log in the database stays the record of truth: what is appended goes there, in the transaction of the change, and to
// NATS only when it was committed. Of all processes one reads the database and publishes; all others read the stream.
//
//	nc, err := nats.Connect(servers)
//	js, err := jetstream.New(nc)
//	log := natsfeed.New(sqlfeed.New(db, nil), js, &natsfeed.Options{Replicas: 3})
//	go log.Run(ctx)
//	changes := feed.New(log, nil)
//
// It pays where a dozen processes and more would ask the database for news ten times a second each, and where clients that
// come back would all read their past there. With fewer, leave it out: the log alone does the same.
//
// # What is in the stream
//
// One message for each event, in the order of the log, on servers of version 2.11 or later. A message names its own place
// and the place before it, so whoever reads knows of itself that nothing is missing between two. The Nats-Msg-Id is the
// cursor, and each message names the last sequence number that it expects, so no event is there twice, whoever publishes.
// Events that are larger than a message can be are named, and read in the log.
//
// # Who publishes
//
// Every process runs a relay, and whoever is faster leads: a relay that finds its messages there already steps back, and
// comes again when the log goes on and the stream does not, within twice [Options.Check]. No lease is needed, as the stream
// itself takes each event once.
//
// # When NATS fails
//
// Cursors are those of the log, so at each place one can go on in either. A place that the stream does not have is looked up
// in the log, and so is everything as long as there is no stream, or Run does not run, or nobody publishes. A stream that
// was deleted, that has lost its end or whose log was restored from a backup is begun anew at the head of the log.
// Of a backup, processes that ran all the time learn within [Options.Check].
//
// NATS is therefore free to lose messages, and it may: by default a server flushes its files every two minutes
// (sync_interval), so that all machines of a cluster going down at once take acknowledged messages with them. With this
// package that costs reading, and no event. sync_interval: always is needed for other users of the stream only.
package natsfeed
