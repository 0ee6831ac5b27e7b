// Package stream answers and reads over HTTP without a limit for the whole: records as they come, the progress of work, copies of the
// log, transcripts that are brought. Each write and each read has a limit of its own, so that nobody who stops is waited for.
//
// What bites: an error after the first byte of an answer can change its status no more. Events are flushed by whoever sends them.
package stream
