package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/gob"
	"io"
	"testing"
)

type unread struct{ io.Writer }

func (unread) Close() error { return nil }

// FuzzAnswers: whatever a child answers, a query ends with rows of as many values as it has columns, or with an error.
func FuzzAnswers(f *testing.F) {
	f.Add(2, 2, byte('t'), "text", []byte(nil))
	f.Add(1, 3, byte('i'), "", []byte{7, 0xff, 0x81})
	f.Add(3, 1, byte('b'), "x", []byte("\x03\x04\x00\x01"))
	f.Add(0, 0, byte(0), "", []byte(nil))
	f.Fuzz(func(t *testing.T, columns, values int, kind byte, text string, rest []byte) {
		var sent bytes.Buffer
		enc := gob.NewEncoder(&sent)
		row := make([]value, max(0, values%8))
		for i := range row {
			row[i] = value{Kind: kind, Int: int64(len(text)), Bytes: []byte(text)}
		}
		for _, a := range []answer{{Columns: make([]string, max(0, columns%8))}, {Rows: [][]value{row, row}}, {End: true, Error: text, Code: len(rest)}} {
			if err := enc.Encode(a); err != nil {
				t.Fatal(err)
			}
		}
		for _, said := range [][]byte{append(bytes.Clone(sent.Bytes()), rest...), append(bytes.Clone(rest), sent.Bytes()...), rest} {
			readAll(t, newChild(unread{io.Discard}, io.NopCloser(bytes.NewReader(said)), &tail{}, func() {}, func() error { return nil }))
		}
	})
}

// readAll asks c and reads what it answers.
func readAll(t *testing.T, c *child) {
	t.Helper()
	rows, err := (&conn{c}).query(context.Background(), "SELECT 1", nil)
	if err != nil {
		return
	}
	defer rows.Close()
	to := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		err = rows.Next(to)
		for _, v := range to {
			if !driver.IsValue(v) {
				t.Fatalf("got a %T", v)
			}
		}
	}
}
