package boltcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestLeaves finds what a file holds without a meta page that leads there, and as much of one that is cut within a page.
func TestLeaves(t *testing.T) {
	t.Parallel()
	whole, pairs := built(t)
	const pageSize = 4096
	leaves := func(file []byte, largest int64) map[string]string { // values to keys: two buckets have the same keys
		found := map[string]string{}
		err := Leaves(t.Context(), bytes.NewReader(file), pageSize, largest, func(e Element) {
			found[string(e.Value)] = string(e.Key)
			if at := file[e.Offset:]; !bytes.HasPrefix(at, e.Key) || !bytes.HasPrefix(at[len(e.Key):], e.Value) {
				t.Errorf("%q is not at %d", e.Key, e.Offset)
			}
		})
		if err != nil {
			t.Error(err)
		}
		return found
	}
	noMeta := append(make([]byte, 2*pageSize), whole[2*pageSize:]...)
	found := leaves(noMeta, 1<<20)
	for i := range 100 {
		if key := fmt.Sprintf("%05d", i); found[pairs["many"+key]] != key {
			t.Errorf("%s is not found", key)
		}
	}
	before := len(found)
	for size := len(whole); size > 0; size -= 1000 {
		of := leaves(whole[:size], 1<<20)
		for value := range of {
			if _, ok := found[value]; !ok {
				t.Fatalf("cut to %d bytes: a value of %d bytes that the whole file has not", size, len(value))
			}
		}
		if len(of) > before {
			t.Errorf("cut to %d bytes: %d elements, where a longer file had %d", size, len(of), before)
		}
		before = len(of)
	}
	if got := leaves(whole, pageSize-1); len(got) > 0 {
		t.Errorf("of pages that are too large: %d elements", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Leaves(ctx, bytes.NewReader(whole), pageSize, 1<<20, func(Element) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
