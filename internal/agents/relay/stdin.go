package relay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cmemd/cmemd/internal/jsonscan"
)

// Bounds of a payload. One longer than maxPayload is carried with its long strings shortened to keepString bytes each,
// which leaves every field in place; one that is too long even so, made of very many values, is refused and counted.
const (
	maxPayload = 32 << 20
	keepString = 256 << 10
)

// Waits of a hook for its payload.
const (
	// inputWait bounds the whole of it. An agent that is busy, or a machine that is, may pause between the start of a hook
	// and the last byte for it; the agent waits for the hook meanwhile, and a hook that goes first loses the payload.
	inputWait = 5 * time.Second

	// openWait is for the end of a pipe that is quiet and has given a whole JSON value: some agents keep it open.
	openWait = 100 * time.Millisecond

	// lastRead is how long a hook that is asked to end still reads: what the agent wrote is there within a few milliseconds.
	lastRead = 50 * time.Millisecond
)

// errTooLong means that a payload has more than maxPayload bytes even with its long strings shortened.
var errTooLong = errors.New("relay: the payload is too long")

// errNoInput means that the agent neither wrote a payload nor closed the pipe.
var errNoInput = errors.New("relay: no payload came")

// A chunk is what one read of standard input gave.
type chunk struct {
	data []byte
	last bool
}

// readPayload reads r to its end, or to a whole JSON value that nothing follows for openWait, for at most wait. whole is
// false if neither was seen. It returns errNoInput if nothing came in that time. The goroutine that reads ends with r or
// with the process; it cannot be interrupted. A ctx that is done leaves lastRead for what is in the pipe already.
func readPayload(ctx context.Context, r io.Reader, wait time.Duration) (data []byte, whole bool, err error) {
	reading, stop := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer stop()
	chunks := make(chan chunk) // unbuffered: whoever stops listening leaves at most one read behind
	go pump(reading, r, chunks)
	var p payload
	var ending, quiet <-chan time.Time
	asked := ctx.Done()
	for {
		select {
		case c := <-chunks:
			p.add(c.data)
			quiet = time.After(openWait)
			if len(p.data()) > maxPayload {
				return nil, false, errTooLong
			}
			if c.last {
				return p.data(), true, nil
			}
		case <-quiet:
			if jsonscan.Valid(p.data()) {
				return p.data(), true, nil
			}
		case <-asked:
			asked, ending = nil, time.After(lastRead)
		case <-ending:
			return p.data(), jsonscan.Valid(p.data()), nil
		case <-reading.Done():
			if len(p.data()) == 0 {
				return nil, false, errNoInput
			}
			return p.data(), jsonscan.Valid(p.data()), nil
		}
	}
}

// Bounds of one read, in bytes. Most payloads are short, and memory that is touched for the first time costs a hook more than a
// second read; long ones are read in larger pieces.
const (
	leastRead = 4 << 10
	mostRead  = 256 << 10
)

// pump sends what r gives, until its end or an error or ctx is done.
func pump(ctx context.Context, r io.Reader, to chan<- chunk) {
	size := leastRead
	for {
		buf := make([]byte, size)
		n, err := r.Read(buf)
		if n == size {
			size = min(2*size, mostRead)
		}
		select {
		case to <- chunk{data: buf[:n], last: err != nil}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// A payload gathers chunks, and shortens strings once there is too much.
type payload struct {
	plain []byte
	long  *shortener
}

func (p *payload) add(b []byte) {
	switch {
	case p.long != nil:
		p.long.write(b)
	case len(p.plain) == 0:
		p.plain = b
	case len(p.plain)+len(b) <= maxPayload:
		p.plain = append(p.plain, b...)
	default:
		p.long = &shortener{keep: keepString}
		p.long.write(p.plain)
		p.long.write(b)
		p.plain = nil
	}
}

func (p *payload) data() []byte {
	if p.long != nil {
		return p.long.out
	}
	return p.plain
}
