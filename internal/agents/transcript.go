package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/cmemd/cmemd/actors/session"
)

// MaxLine is the longest line of a transcript in bytes. Agents write whole files and pictures into one line.
const MaxLine = 64 << 20

// A Transcript is one reading of one transcript, from its start. It is not safe for concurrent use.
type Transcript struct {
	// Redact takes secrets out of what is captured; nil: nothing does. It is set before Captures is called.
	Redact Redact

	in      *bufio.Reader
	decoder lineDecoder
	printed bool // no line was read yet, and the file may be one object that is printed over several lines, which counts as one
	buf     []byte
	got     []session.Capture
	at      Progress
}

// Progress says how far a reading has come.
type Progress struct {
	Lines     int            // read whole
	Offset    int64          // bytes of these lines, and of the mark before them: where the first unread line starts
	Partial   int64          // bytes of a last line that was not finished yet; it is left for a later reading
	Malformed int            // lines that were reported as a *LineError
	Skipped   map[string]int // lines that mean nothing here, by the agent's name of their kind
	Last      time.Time      // the latest time of a line, whatever it means; zero: none has one
}

// LineError is a line that was not understood. The reading goes on behind it.
type LineError struct {
	Line int   // from 1
	Err  error // *SyntaxError, *FieldError or ErrTooLong
}

// Error says which line and why.
func (e *LineError) Error() string { return fmt.Sprintf("agents: line %d: %v", e.Line, e.Err) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// lineDecoder knows the lines of one agent's transcripts.
type lineDecoder interface {
	// line takes one line, an object, which it does not keep. It returns the kind of a line that means nothing here, else "".
	line(line []byte) (skipped string, err error)

	// end says that there is no further line.
	end()
}

func newTranscript(r io.Reader, d lineDecoder) *Transcript {
	return &Transcript{in: bufio.NewReaderSize(r, 64<<10), decoder: d, at: Progress{Skipped: make(map[string]int)}}
}

// Progress returns how far the reading has come. After the last capture it is complete.
func (t *Transcript) Progress() Progress { return t.at }

// Captures reads to the end and yields what the transcript reports, in its order. Each capture has a key, a time and an
// id that depend on the transcript alone: to read it again, or after it grew, repeats what was captured before as
// duplicates. A *LineError is followed by further captures; an error of the reader ends the sequence. It may be used
// again where the reader has more by then: bytes from Progress.Offset on. A text in UTF-16 is ErrUTF16, and nothing of it is read.
func (t *Transcript) Captures() iter.Seq2[session.Capture, error] { return t.captures(true) }

// More is Captures for a transcript that goes on behind what the reader has: the agent's last words so far are no answer
// yet. It may be used again, and Captures after it.
func (t *Transcript) More() iter.Seq2[session.Capture, error] { return t.captures(false) }

func (t *Transcript) captures(ends bool) iter.Seq2[session.Capture, error] {
	return func(yield func(session.Capture, error) bool) {
		if err := t.skipMark(); err != nil {
			yield(session.Capture{}, err)
			return
		}
		for {
			line, err := t.next()
			if err == io.EOF {
				if ends {
					t.decoder.end()
				}
				t.flush(yield)
				return
			}
			err = t.take(line, err)
			if !t.flush(yield) {
				return
			}
			var bad *LineError
			if err != nil && (!yield(session.Capture{}, err) || !errors.As(err, &bad)) {
				return
			}
		}
	}
}

// byteOrderMark is what editors and shells of Windows put before a text.
var byteOrderMark = []byte("\ufeff")

// ErrUTF16 is a transcript that begins as a text in UTF-16 does, with a mark of its byte order.
var ErrUTF16 = errors.New("agents: it is text in UTF-16, and a transcript is in UTF-8")

// IsUTF16 reports whether a text that begins with begin is one.
func IsUTF16(begin []byte) bool {
	return bytes.HasPrefix(begin, []byte("\xff\xfe")) || bytes.HasPrefix(begin, []byte("\xfe\xff"))
}

// skipMark passes over the mark that the transcript may begin with. The error is ErrUTF16.
func (t *Transcript) skipMark() error {
	if t.at.Offset > 0 {
		return nil
	}
	begin, _ := t.in.Peek(len(byteOrderMark))
	if bytes.Equal(begin, byteOrderMark) {
		n, _ := t.in.Discard(len(begin))
		t.at.Offset += int64(n)
	}
	if IsUTF16(begin) {
		return ErrUTF16
	}
	return nil
}

// scrubber returns one for the next event.
func (t *Transcript) scrubber() *scrubber { return &scrubber{redact: t.Redact} }

func (t *Transcript) emit(c session.Capture) { t.got = append(t.got, c) }

// flush yields what the last line gave.
func (t *Transcript) flush(yield func(session.Capture, error) bool) bool {
	got := t.got
	t.got = nil
	for _, c := range got {
		if !yield(c, nil) {
			return false
		}
	}
	return true
}

// take hands a line to the decoder. Err is what reading it gave.
func (t *Transcript) take(line []byte, err error) error {
	if err != nil && !errors.Is(err, ErrTooLong) {
		return fmt.Errorf("agents: read transcript: %w", err)
	}
	t.at.Lines++
	if err == nil && len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	skipped := ""
	if err == nil {
		skipped, err = t.line(line)
	}
	if err != nil {
		t.at.Malformed++
		return &LineError{Line: t.at.Lines, Err: err}
	}
	if skipped != "" {
		t.skip(skipped)
	}
	return nil
}

func (t *Transcript) line(line []byte) (skipped string, err error) {
	if err := checkJSON(line); err != nil {
		return "", err
	}
	if !isObject(line) {
		return "", ErrNotObject
	}
	return t.decoder.line(line)
}

// maxKinds bounds what a transcript of many made-up kinds of line costs.
const maxKinds = 100

func (t *Transcript) skip(kind string) {
	if _, known := t.at.Skipped[kind]; !known && len(t.at.Skipped) >= maxKinds {
		kind = "other"
	}
	t.at.Skipped[kind]++
}

// parseTime reads a time of RFC 3339. One that no clock shows is the zero time.
func parseTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || !IsClockTime(at) {
		return time.Time{}
	}
	return at
}

// ahead returns the first time that timeOf finds in the next 64 KiB of lines, or the zero time. It reads nothing away.
func (t *Transcript) ahead(timeOf func(line []byte) time.Time) time.Time {
	next, _ := t.in.Peek(t.in.Size()) // an error comes again where the reading gets to it
	for line := range bytes.Lines(next) {
		if !isObject(line) || checkJSON(line) != nil {
			continue // not understood, or cut
		}
		if at := timeOf(line); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// next is nextLine, or the whole object where the file is one that is printed over several lines.
func (t *Transcript) next() ([]byte, error) {
	line, err := t.nextLine()
	if !t.printed || err != nil || len(bytes.TrimSpace(line)) == 0 {
		return line, err
	}
	t.printed = false
	if !isObject(line) || checkJSON(line) == nil {
		return line, nil
	}
	rest, err := io.ReadAll(io.LimitReader(t.in, MaxLine-int64(len(t.buf))))
	var whole bytes.Buffer // without the white space: what a tool was given is as in a line
	if err == nil && json.Compact(&whole, append(t.buf, rest...)) == nil {
		t.at.Offset += int64(len(rest))
		return whole.Bytes(), nil
	}
	t.in = bufio.NewReaderSize(&unread{rest, err, t.in}, t.in.Size())
	return line, nil
}

// unread reads text first, then what r has behind it, or err.
type unread struct {
	text []byte
	err  error
	r    io.Reader
}

// Read implements io.Reader.
func (u *unread) Read(p []byte) (n int, err error) {
	if len(u.text) == 0 && u.err == nil {
		return u.r.Read(p)
	}
	n = copy(p, u.text)
	if u.text = u.text[n:]; len(u.text) == 0 {
		err = u.err
	}
	return n, err
}

// nextLine returns the next line without its end, which lives until the next call. The error is ErrTooLong for a line over
// MaxLine, whose end has been found, and io.EOF where no whole line is left.
func (t *Transcript) nextLine() ([]byte, error) {
	t.buf = t.buf[:0]
	var size int64
	for {
		part, err := t.in.ReadSlice('\n')
		size += int64(len(part))
		if size <= MaxLine+1 {
			t.buf = append(t.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err == io.EOF {
			return t.lastLine(size)
		}
		if err != nil {
			return nil, err
		}
		t.at.Offset += size
		if size > MaxLine+1 {
			return nil, ErrTooLong
		}
		return bytes.TrimRight(t.buf, "\r\n"), nil
	}
}

// lastLine decides about bytes that no line end follows: JSON is whole, all else is still being written.
func (t *Transcript) lastLine(size int64) ([]byte, error) {
	if size == 0 || size > MaxLine || !isObject(t.buf) || checkJSON(t.buf) != nil {
		t.at.Partial = size
		return nil, io.EOF
	}
	t.at.Offset += size
	return t.buf, nil
}
