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
	a.makeRoom(r.PayloadSize() + events.MaxHeader)
	b, err := r.AppendBinary(a.buf)
	must(err)
	return a.keep(b)
}

func (a *arena) head(h head) []byte {
	a.makeRoom(headSize)
	return a.keep(h.appendTo(a.buf))
}

// makeRoom makes room for n bytes.
func (a *arena) makeRoom(n int) {
	if cap(a.buf)-len(a.buf) < n {
		a.buf = make([]byte, 0, max(n, arenaChunk))
	}
}

// keep keeps b, which is the buffer with something behind it, and returns that.
func (a *arena) keep(b []byte) []byte {
	start := len(a.buf)
	a.buf = b
	return b[start:len(b):len(b)]
}
