package spool

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/ignore"
	"github.com/cmemd/cmemd/internal/jsonscan"
)

// An Entry is one payload as its hook kept it.
type Entry struct {
	Name       string          // of its file in new; names sort by OccurredAt
	Agent      string          // whose hook it was
	Delivery   string          // a UUID; a post of the same payload carried it too
	OccurredAt time.Time       // when the hook started
	Cut        bool            // private text was removed
	Redactions map[string]int  // what else was left out, by kind: Withheld, and secrets by earlier releases
	Ignore     []ignore.Source // the ignore files that held in the session's folder when the hook was called
	Body       []byte          // the payload, not checked: agents may send anything
}

// A spool file has one of two formats. Format 1 is a line of JSON, the header, and the payload behind it. Format 2 is a line
// of JSON that names a key, the delivery and the time, and behind it a whole file of format 1, sealed to that key. Files of
// format 2 have names that begin with a dot: releases that do not know the format pass over such names.
const (
	openFormat   = 1
	sealedFormat = 2

	sealedPrefix = "."
)

// nameWidth is how many digits of nanoseconds a name begins with.
const nameWidth = 20

// entryName makes a name whose order is that of time.
func entryName(e Entry) string {
	return fmt.Sprintf("%0*d-%s", nameWidth, max(e.OccurredAt.UnixNano(), 0), e.Delivery)
}

// appendHeader appends the line of JSON that stands before an entry's body.
func appendHeader(b []byte, e Entry) []byte {
	b = append(b, `{"v":1,"agent":`...)
	b = jsonscan.AppendQuoted(b, e.Agent)
	b = append(b, `,"delivery":`...)
	b = jsonscan.AppendQuoted(b, e.Delivery)
	b = append(b, `,"occurred_at":"`...)
	b = e.OccurredAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","cut":`...)
	b = strconv.AppendBool(b, e.Cut)
	if len(e.Redactions) > 0 {
		b = append(b, `,"redacted":"`...)
		b = append(appendCounts(b, e.Redactions), '"')
	}
	if len(e.Ignore) > 0 {
		b = append(b, `,"ignore":`...)
		b = jsonscan.AppendQuoted(b, joinSources(e.Ignore))
	}
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, int64(len(e.Body)), 10)
	return append(b, "}\n"...)
}

// sealedHeader is the clear line of a sealed file. It says nothing of the content.
func sealedHeader(key string, e Entry, size int) []byte {
	b := []byte(`{"v":2,"key":"` + key + `","delivery":`)
	b = jsonscan.AppendQuoted(b, e.Delivery)
	b = append(b, `,"occurred_at":"`...)
	b = e.OccurredAt.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","bytes":`...)
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, "}\n"...)
}

// timed reports whether a name begins with a time, as that of each entry does.
func timed(name string) bool {
	nanos, _, ok := strings.Cut(name, "-")
	return ok && len(nanos) == nameWidth && strings.Trim(nanos, "0123456789") == ""
}

// parseEntry reads a spool file of the open format. The entry's body is part of data.
func parseEntry(data []byte) (Entry, error) {
	line, body, found := bytes.Cut(data, []byte("\n"))
	if !found {
		return Entry{}, fmt.Errorf("%w: no header line", ErrBadEntry)
	}
	h := readHeader(line)
	if h.version == sealedFormat {
		return Entry{}, fmt.Errorf("%w: sealed inside of a sealed file", ErrBadEntry)
	}
	if problem := h.problem(len(body)); problem != "" {
		return Entry{}, fmt.Errorf("%w: %s", ErrBadEntry, problem)
	}
	h.entry.Body = body
	return h.entry, nil
}

// readHeader reads the first line of a spool file. What is no JSON has no version.
func readHeader(line []byte) header {
	h := header{bytes: -1}
	if !jsonscan.Scalars(line, h.set) {
		return header{notJSON: true, bytes: -1}
	}
	return h
}

// A header is the first line of a spool file as it is read.
type header struct {
	notJSON        bool
	version, bytes int
	key            string // of a sealed file
	occurred       bool
	entry          Entry
}

// set takes one member of the header. Unknown ones are passed over: a later release may add some.
func (h *header) set(name string, value []byte) bool {
	text := ""
	if value[0] == '"' {
		text = jsonscan.Unquote(value)
	}
	switch name {
	case "v":
		h.version = jsonscan.WholeNumber(value)
	case "bytes":
		h.bytes = jsonscan.WholeNumber(value)
	case "agent":
		h.entry.Agent = text
	case "delivery":
		h.entry.Delivery = text
	case "occurred_at":
		at, err := time.Parse(time.RFC3339Nano, text)
		h.entry.OccurredAt, h.occurred = at.UTC(), err == nil
	case "key":
		h.key = text
	case "ignore":
		h.entry.Ignore = splitSources(text)
	case "cut":
		h.entry.Cut = string(value) == "true"
	case "redacted":
		h.entry.Redactions = readCounts(text)
	}
	return true
}

// problem says what is wrong with a header before a body of n bytes, or nothing.
func (h *header) problem(n int) string {
	switch {
	case h.notJSON:
		return "the header is not JSON"
	case h.version > sealedFormat:
		return "format " + strconv.Itoa(h.version) + " is newer than " + strconv.Itoa(sealedFormat) + ": `cmemd upgrade`, then `cmemd spool retry`"
	case h.version < openFormat:
		return "no format number"
	case h.version == openFormat && !known.IsName(h.entry.Agent):
		return "no agent's name"
	case !isUUID(h.entry.Delivery):
		return "no delivery id"
	case !h.occurred:
		return "no time"
	case h.bytes >= 0 && h.bytes != n:
		return "has " + strconv.Itoa(n) + " of " + strconv.Itoa(h.bytes) + " bytes"
	}
	return ""
}

// whole returns the name in new of a file that is an entry to its end, as far as that can be told without opening it.
func whole(data []byte) (name string, ok bool) {
	line, rest, found := bytes.Cut(data, []byte("\n"))
	h := readHeader(line)
	if !found || h.bytes < 0 || h.problem(len(rest)) != "" {
		return "", false
	}
	name = entryName(h.entry)
	if h.version == sealedFormat {
		name = sealedPrefix + name
	}
	return name, true
}

// timeOrder compares names by their times, whatever their format.
func timeOrder(a, b string) int {
	return strings.Compare(strings.TrimPrefix(a, sealedPrefix), strings.TrimPrefix(b, sealedPrefix))
}

// DeliveryOf is the delivery in the name of a spool file.
func DeliveryOf(name string) string {
	_, delivery, _ := strings.Cut(name, "-")
	return delivery
}

// joinSources writes ignore files into one text: folder, NUL, text, NUL.
func joinSources(files []ignore.Source) string {
	var out strings.Builder
	for _, f := range files {
		out.WriteString(f.Folder + "\x00" + f.Text + "\x00")
	}
	return out.String()
}

// splitSources is the other side of joinSources.
func splitSources(text string) (files []ignore.Source) {
	for text != "" {
		folder, rest, _ := strings.Cut(text, "\x00")
		body, rest, _ := strings.Cut(rest, "\x00")
		files, text = append(files, ignore.Source{Folder: folder, Text: body}), rest
	}
	return files
}

// isUUID reports whether s is a UUID in its usual form, in lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if dash != (c == '-') || (!dash && !hex) {
			return false
		}
	}
	return true
}
