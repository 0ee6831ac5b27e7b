package idempotency

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDo: what was done is answered once more; another question under the key is refused; what failed or panicked may be tried again;
// keys of other callers and routes are others.
func TestDo(t *testing.T) {
	t.Parallel()
	var c Calls
	failed, ran := errors.New("failed"), 0
	k := Key{"a", "POST /x", "1"}
	for i, try := range []struct {
		key   Key
		asked string
		fails error
		want  any
		err   error
	}{
		{k, "q", failed, nil, failed}, {k, "q", nil, 2, nil}, {k, "q", nil, 2, nil}, {k, "other", nil, nil, ErrAnother},
		{Key{"b", "POST /x", "1"}, "q", nil, 3, nil}, {Key{"a", "POST /y", "1"}, "q", nil, 4, nil}, {k, "q", failed, 2, nil},
	} {
		got, err := c.Do(try.key, []byte(try.asked), func() (any, error) {
			if ran++; try.fails != nil {
				return nil, try.fails
			}
			return ran, nil
		})
		if got != try.want || !errors.Is(err, try.err) {
			t.Errorf("%d: got %v, %v, want %v, %v", i, got, err, try.want, try.err)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = c.Do(Key{Text: "p"}, nil, func() (any, error) { panic("it broke") })
	}()
	if got, err := c.Do(Key{Text: "p"}, nil, func() (any, error) { return "again", nil }); got != "again" || err != nil {
		t.Errorf("after a panic: %v, %v", got, err)
	}
}

// TestAtOnce: of calls that come at once with one key one runs; the others are answered alike, or told that it is under way.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	var c Calls
	var all sync.WaitGroup
	ran := make(chan int, 100)
	for range 50 {
		all.Go(func() {
			got, err := c.Do(Key{Text: "k"}, nil, func() (any, error) { ran <- 1; return "done", nil })
			if (got != "done" || err != nil) && !errors.Is(err, ErrUnderWay) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	all.Wait()
	if len(ran) != 1 {
		t.Errorf("it ran %d times", len(ran))
	}
}

// TestBounds: the oldest keys are forgotten for new ones, and all after their time; what failed leaves none.
func TestBounds(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := Calls{Now: func() time.Time { return now }}
	done := func() (any, error) { return 1, nil }
	for i := range maxKept + 10 {
		if _, err := c.Do(Key{Text: strconv.Itoa(i)}, nil, done); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.by) != maxKept || len(c.order) != maxKept {
		t.Errorf("%d and %d keys are kept", len(c.by), len(c.order))
	}
	now = now.Add(keptFor + 1)
	_, _ = c.Do(Key{Text: "failed"}, nil, func() (any, error) { return nil, errors.New("no") })
	if len(c.by) != 0 || len(c.order) != 0 {
		t.Errorf("%d and %d keys are kept after their time", len(c.by), len(c.order))
	}
}

func TestIsKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "01934f6c-7c1e-7aaa-8000-000000000001": true, "a b": false, "é": false, "\n": false, strings.Repeat("k", MaxKey): true, strings.Repeat("k", MaxKey+1): false,
	} {
		if IsKey(text) != want {
			t.Errorf("IsKey(%q) is %t", text, !want)
		}
	}
}
