// Package segment is the form in which a run of a log's records travels: sealed, signed by the machine that wrote them, and linked
// to the run before. Who stores a segment sees whose it is, which positions it holds and how large it is, and nothing else.
//
// A segment is a header in clear and a body. The body is AES-256-GCM, under a key that is used once, over the zstd of the stored
// records; the header is its associated data. That key is in the header, wrapped by the key of the space's epoch.
//
// Links make a log's segments a prefix of the log, however it was cut into them: a record's link is the SHA-256 of the link of the
// record before and of the record without its payload. So a link says all that came before, and erasing a payload changes none.
// The signature covers what a segment says of its records and not how they were sealed, so a machine that holds the space's key
// can seal the segment anew, with fewer payloads, in its writer's absence (Rewrite). It can leave payloads out but not exchange
// them: a record's header holds the hash of its payload.
//
// The files, each referring to those below it:
//
//	open.go, batch.go, codec.go, header.go, link.go
//
// What bites:
//   - Parse believes nothing but the form. What a header says is true once Verify passed with the key of its device, and that its
//     records are what it says once Open passed.
//   - A record whose payload was left out is like one that was erased. Why it was left out is not said here.
package segment
