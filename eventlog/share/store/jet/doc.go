// Package jet keeps the objects of a store.Store in NATS JetStream: in `cmemd hub`, or in a cluster that somebody runs.
//
// A space is one stream, and an object its newest message of one subject: s/log/7q/head is cm.s.log.7q.head in the stream cm-s, dots
// of a key being underscores. Create and Replace are publications that name the sequence number which the subject must be at, and a
// revision is that number. It is a plain stream, no bucket: a bucket answers gets from any server, also from one that is behind, and
// refuses secure deletion. Gets ask the stream's leader.
//
// A stream that is made anew begins with the milliseconds of its time, so that its numbers are above those of one that was lost. Its
// messages are files, one a subject; no limit drops any. In a cluster three servers keep it.
//
// The files, each referring to those below it:
//
//	watch.go, list.go, jet.go, stream.go, call.go, errors.go, connect.go, address.go, subject.go
//
// What bites: how durable an answer is, is the server's setting (sync_interval: always). A deletion overwrites the message in its
// file; in a cluster's journal it stays until the next snapshot. List tells no revisions. While a cluster has no leader (4 to 9 s)
// calls fail as may pass. A leader whose machine stood still leads on for a moment when it wakes: until it knows better, Get and List
// answer as things were.
package jet
