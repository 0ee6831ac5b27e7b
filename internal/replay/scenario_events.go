package replay

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
)

// part is what a block of events came to.
type part struct {
	block  block
	events []Event
	wrong  *SyntaxError
}

// readEvents reads the events that c cuts out, on all processors, and returns them in their order, or what is wrong with
// the first one that cannot be read; nil where there is no list of them.
func readEvents(c *cutter) ([]Event, *SyntaxError) {
	if !c.head() {
		return nil, nil
	}
	n := runtime.GOMAXPROCS(0)
	r := partReader{work: make(chan *part, n), spare: make(chan []byte, 2*n+2)}
	var wg sync.WaitGroup
	for range n {
		wg.Go(r.run)
	}
	parts, wrong := r.cut(c)
	wg.Wait()
	return joined(parts, wrong)
}

// partReader reads parts, in any number of goroutines.
type partReader struct {
	work   chan *part
	spare  chan []byte // buffers of blocks that are read
	failed atomic.Bool // a part cannot be read: the others need not be
}

// cut hands out all that c cuts, until it is at its end or something is wrong. The parts are not read yet.
func (r *partReader) cut(c *cutter) (parts []*part, wrong *SyntaxError) {
	defer close(r.work)
	for !r.failed.Load() {
		var buffer []byte
		select {
		case buffer = <-r.spare:
		default:
		}
		b, more, err := c.next(buffer)
		if !more {
			return parts, err
		}
		p := &part{block: b}
		parts = append(parts, p)
		r.work <- p
	}
	return parts, nil
}

// run reads parts until there are no more.
func (r *partReader) run() {
	for p := range r.work {
		p.read()
		if p.wrong != nil {
			r.failed.Store(true)
		}
		select {
		case r.spare <- p.block.text:
		default:
		}
		p.block = block{}
	}
}

// joined puts parts together; wrong is what stopped the cutting, behind all of them.
func joined(parts []*part, wrong *SyntaxError) ([]Event, *SyntaxError) {
	n := 0
	for _, p := range parts {
		if p.wrong != nil {
			return nil, p.wrong
		}
		n += len(p.events)
	}
	if wrong != nil {
		return nil, wrong
	}
	all := make([]Event, 0, n)
	for _, p := range parts {
		all = append(all, p.events...)
		p.events = nil
	}
	return all, nil
}

// read reads the events of p's block: each as the scanner knows it, or else, whatever it is, as encoding/json does.
func (p *part) read() {
	b := &p.block
	p.events = make([]Event, len(b.events))
	scan := eventScanner{names: map[string]string{}}
	for i, at := range b.events {
		text := b.text[at.from:at.to]
		if scan.event(text, &p.events[i]) {
			continue
		}
		p.events[i] = Event{}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&p.events[i]); err != nil {
			off, err := syntaxOffset(err, dec.InputOffset(), len(text))
			end := at.from + int(off)
			p.wrong = &SyntaxError{Line: b.line + bytes.Count(b.text[:end], []byte("\n")), Offset: b.offset + int64(end), Err: err}
			return
		}
	}
}
