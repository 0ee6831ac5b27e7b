package eventlog

import "github.com/cmemd/cmemd/events"

// must is for errors that bbolt returns for misuse only; the commit turns the panic into a failed one.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// arena holds the stored forms of a group until it is committed.
type arena struct{ buf []byte }

// arenaChunk holds a few hundred records; larger ones get their own.
const arenaChunk = 256 << 10

func (a *arena) reset() { a.buf = a.buf[:0] }

func (a *arena) record(r events.Record) []byte {
	if n := r.PayloadSize() + events.MaxHeader; cap(a.buf)-len(a.buf) < n {
		a.buf = make([]byte, 0, max(n, arenaChunk))
	}
	start := len(a.buf)
	b, err := r.AppendBinary(a.buf)
	must(err)
	a.buf = b
	return b[start:len(b):len(b)]
}
