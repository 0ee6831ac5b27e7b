package claudecli

import "bytes"

// lines is a writer that hands on one line at a time, without its end. A line beyond limit is passed over: nothing that is
// waited for is as long.
type lines struct {
	take  func(line []byte) // must not keep line
	limit int
	part  []byte // the beginning of a line whose end has not come
	over  bool   // that line is too long
}

// Write never fails, so that nobody who writes is ended by it.
func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.keep(b)
			return n, nil
		}
		l.end(b[:i])
		b = b[i+1:]
	}
}

func (l *lines) keep(b []byte) {
	if l.over = l.over || len(l.part)+len(b) > l.limit; l.over {
		l.part = nil
		return
	}
	l.part = append(l.part, b...)
}

// end completes a line. One that came whole is not copied.
func (l *lines) end(b []byte) {
	line := b
	if len(l.part) > 0 {
		l.keep(b)
		line = l.part
	}
	if !l.over && len(line) <= l.limit {
		l.take(line)
	}
	l.part, l.over = l.part[:0], false
}
