// Package cost counts what a session's events cost a model: how many bytes are sent and how often it is asked, by which of
// the session's events it was. Run puts events through the real system: actors, the log on disk, prompts, the wire of one
// service; only the service is a program of this package, on loopback, that counts and answers.
//
// What bites: bytes are those of requests' bodies, as they left, without the headers, which are about 1 kB a call and the
// same for each. The clock is moved by hand, to the next event at once when nothing is due any more: latencies in the log
// are 0. The costs of a summary are shared by the events of the work that it sums up.
package cost
