package process

import "io"

// Output is the beginning of what a command prints: as much as Limit bytes. The rest is passed over, or, where Strict, refused, which ends
// whoever writes it.
type Output struct {
	Limit  int
	Strict bool

	text []byte
	over bool
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	kept := b[:min(len(b), o.Limit-len(o.text))]
	o.text = append(o.text, kept...)
	if o.over = o.over || len(kept) < len(b); o.over && o.Strict {
		return len(kept), io.ErrShortWrite
	}
	return len(b), nil
}

// String is what is kept.
func (o *Output) String() string { return string(o.text) }

// Over reports whether there was more.
func (o *Output) Over() bool { return o.over }
