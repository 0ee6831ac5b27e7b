package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// previewLength is how many characters of an output are shown to people.
const previewLength = 200

// Output holds words of a model or of its provider that did not pass the output contract: a whole output, a cut or failed
// one, the beginning of one, the reason that a skip states. Nothing may be decided by what they say, so they are not
// handed out: an Output prints as its length, cannot be compared with == and is no key of a map. RawText is the one way to
// the words, and a test in testkit lists who takes it. On disk and in JSON an Output is a plain string. The zero value is
// the empty output. It is immutable and may be shared.
type Output struct {
	_    [0]func() // not comparable
	text string
}

// NewOutput returns text as an output.
func NewOutput(text string) Output { return Output{text: text} }

// RawText returns the words themselves, for the grammar, for what takes something out whatever it says, and for showing
// them to a person. Every caller is listed in testkit/outputs_test.go.
func (o Output) RawText() string { return o.text }

// Len is the length in bytes.
func (o Output) Len() int { return len(o.text) }

// IsZero reports whether o holds nothing.
func (o Output) IsZero() bool { return o.text == "" }

// Equal reports whether both hold the same bytes. It is for tests and proofs.
func (o Output) Equal(other Output) bool { return o.text == other.text }

// Clip returns the first n bytes at most, cut between characters, with nothing that is not valid UTF-8.
func (o Output) Clip(n int) Output {
	if len(o.text) <= n {
		return o
	}
	return Output{text: strings.ToValidUTF8(o.text[:n], "")}
}

// Valid returns o as valid UTF-8: every run of invalid bytes is replaced by U+FFFD.
func (o Output) Valid() Output { return Output{text: strings.ToValidUTF8(o.text, "\uFFFD")} }

// Preview returns the beginning of o on one line of valid UTF-8, at most 200 characters, for people.
func (o Output) Preview() Output {
	line := strings.Join(strings.Fields(o.text[:min(len(o.text), 16*previewLength)]), " ")
	if utf8.RuneCountInString(line) <= previewLength {
		return Output{text: strings.ToValidUTF8(line, "\uFFFD")}
	}
	return Output{text: string([]rune(line)[:previewLength])}
}

// String returns the length in words, never what o holds.
func (o Output) String() string { return fmt.Sprintf("output of %d bytes", len(o.text)) }

// GoString is String.
func (o Output) GoString() string { return o.String() }

// Format writes String, whatever the verb.
func (o Output) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(o.String())) }

// LogValue is String.
func (o Output) LogValue() slog.Value { return slog.StringValue(o.String()) }

// MarshalJSON returns the words as a JSON string.
func (o Output) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // whether to escape is the outer encoder's choice, as it is for a string
	err := enc.Encode(o.text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads a JSON string.
func (o *Output) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &o.text) }

// MarshalCBOR returns the words as a CBOR text string.
func (o Output) MarshalCBOR() ([]byte, error) {
	const text = 3 << 5 // the major type
	b := make([]byte, 0, len(o.text)+5)
	switch n := len(o.text); {
	case n < 24:
		b = append(b, text|byte(n))
	case n < 1<<8:
		b = append(b, text|24, byte(n))
	case n < 1<<16:
		b = append(b, text|25, byte(n>>8), byte(n))
	default:
		b = append(b, text|26, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(b, o.text...), nil
}

// UnmarshalCBOR reads what MarshalCBOR writes, and nil as the empty output.
func (o *Output) UnmarshalCBOR(b []byte) error {
	const nothing = 0xf6
	if len(b) == 1 && b[0] == nothing {
		o.text = ""
		return nil
	}
	if len(b) == 0 || b[0]>>5 != 3 || b[0]&31 > 27 {
		return errors.New("events: an output is a text string")
	}
	head := 1
	if more := b[0] & 31; more >= 24 {
		head += 1 << (more - 24)
	}
	if len(b) < head {
		return errors.New("events: an output is cut")
	}
	o.text = string(b[head:])
	return nil
}
