package storetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/internal/transient"
)

// Ledger is what a Writer was answered: what must be there whatever was killed.
type Ledger struct {
	created []store.Key
	head    map[store.Key]int // the last number that the head of a writer was replaced by
}

// Writer creates objects, of sizes from nothing to MaxBody, and replaces one of its own, until ctx ends or a call fails for good, and
// tells each answer to out, as a line that Ledger.Read reads. While calls fail as may pass it asks again. name is a part of its keys,
// and its alone. It returns the error that ended it.
func Writer(ctx context.Context, s store.Store, name string, out io.Writer) error {
	head := store.Key("kill/head/" + name)
	var rev store.Rev
	err := retry(ctx, func() (err error) {
		rev, err = s.Create(ctx, head, headBody(head, 0))
		if errors.Is(err, store.ErrExists) {
			_, rev, err = s.Get(ctx, head)
		}
		return err
	})
	for n := 1; err == nil; n++ {
		key := store.Key(fmt.Sprintf("kill/%s/%06d", name, n))
		if err = retry(ctx, func() error {
			_, err := s.Create(ctx, key, objectBody(key))
			if errors.Is(err, store.ErrExists) { // the answer was lost
				return nil
			}
			return err
		}); err != nil {
			break
		}
		if _, err = fmt.Fprintf(out, "created %s\n", key); err != nil || n%4 != 0 {
			continue
		}
		if rev, err = replaceHead(ctx, s, head, rev, n); err == nil {
			_, err = fmt.Fprintf(out, "replaced %s %d\n", head, n)
		}
	}
	return err
}

// replaceHead is Replace, which asks until it is answered.
func replaceHead(ctx context.Context, s store.Store, head store.Key, at store.Rev, n int) (rev store.Rev, err error) {
	body := headBody(head, n)
	err = retry(ctx, func() (err error) {
		rev, err = s.Replace(ctx, head, at, body)
		if errors.Is(err, store.ErrMoved) {
			var got []byte
			if got, rev, err = s.Get(ctx, head); err == nil && !bytes.Equal(got, body) {
				return fmt.Errorf("%w: %s has what nobody wrote", store.ErrMoved, head)
			}
		}
		return err
	})
	return rev, err
}

// retryEvery is how soon a Writer asks again.
const retryEvery = 10 * time.Millisecond

// retry calls do until it is answered, or fails for good.
func retry(ctx context.Context, do func() error) error {
	for {
		if err := do(); !transient.Is(err) || ctx.Err() != nil {
			return err
		}
		time.Sleep(retryEvery)
	}
}

// Read takes the lines of a Writer until they end, and calls each, unless it is nil, after each of them. A line that was cut is none.
func (l *Ledger) Read(in io.Reader, each func(lines int)) error {
	lines := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := l.add(strings.Fields(line)); err != nil {
			return err
		}
		if each != nil {
			each(n)
		}
	}
}

func (l *Ledger) add(words []string) error {
	switch {
	case len(words) == 2 && words[0] == "created":
		l.created = append(l.created, store.Key(words[1]))
		return nil
	case len(words) == 3 && words[0] == "replaced":
		n, err := strconv.Atoi(words[2])
		if l.head == nil {
			l.head = map[store.Key]int{}
		}
		l.head[store.Key(words[1])] = n
		return err
	}
	return fmt.Errorf("store: no line of a writer: %q", words)
}

// Created is what was answered to have been created.
func (l *Ledger) Created() []store.Key { return slices.Clone(l.created) }

// settlesIn is how long a store may answer as things were before a fault: one that stood still leads no more, and learns of that later.
const settlesIn = 30 * time.Second

// Check fails the test unless all that was answered comes to be there, and all that is there is whole, while ctx lasts and within half a
// minute.
func (l *Ledger) Check(ctx context.Context, t testing.TB, s store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, settlesIn)
	defer cancel()
	began := time.Now()
	var wrong []string
	for {
		now := l.wrong(ctx, s)
		if len(now) == 0 {
			if len(wrong) > 0 {
				t.Logf("right after %v; before that %d were wrong, such as: %s", time.Since(began).Round(time.Millisecond), len(wrong), wrong[0])
			}
			return
		}
		if ctx.Err() == nil || len(wrong) == 0 { // else the time was up in the middle of it
			wrong = now
		}
		select {
		case <-ctx.Done():
			t.Errorf("%d are wrong:\n%s", len(wrong), strings.Join(wrong, "\n"))
			return
		case <-time.After(time.Second):
		}
	}
}

// wrong says what of all that was answered is not there, and what is not whole.
func (l *Ledger) wrong(ctx context.Context, s store.Store) (all []string) {
	there := map[store.Key]bool{}
	for e, err := range store.All(ctx, s, "kill/", "") {
		if err != nil {
			return append(all, fmt.Sprintf("list: %v", err))
		}
		there[e.Key] = true
		body, _, err := s.Get(ctx, e.Key)
		if err != nil {
			all = append(all, fmt.Sprintf("%s is listed: %v", e.Key, err))
			continue
		}
		want := objectBody(e.Key)
		if strings.HasPrefix(string(e.Key), "kill/head/") {
			n, _, _ := strings.Cut(string(body), " ")
			at, err := strconv.Atoi(n)
			if err != nil || at < l.head[e.Key] {
				all = append(all, fmt.Sprintf("%s is at %.20q (%v), and was answered to be at %d", e.Key, body, err, l.head[e.Key]))
			}
			want = headBody(e.Key, at)
		}
		if !bytes.Equal(body, want) {
			all = append(all, fmt.Sprintf("%s has %d bytes that nobody wrote", e.Key, len(body)))
		}
	}
	for _, key := range l.created {
		if !there[key] {
			all = append(all, fmt.Sprintf("%s was created, and is gone", key))
		}
	}
	return all
}

// headBody begins with the number n.
func headBody(key store.Key, n int) []byte {
	return append(fmt.Appendf(nil, "%d ", n), noise(string(key)+strconv.Itoa(n), 500)...)
}

// objectBody follows from the key; one in fifty is as large as may be.
func objectBody(key store.Key) []byte {
	size := noise(string(key), 2)
	if size[0] < 5 {
		return noise(string(key), store.MaxBody)
	}
	return noise(string(key), int(size[1])<<8)
}
