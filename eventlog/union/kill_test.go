package union_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/crash"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/race"
)

func TestMain(m *testing.M) {
	os.Exit(crash.Main(m, map[string]crash.Role{"grow": func(args []string) int {
		if err := growUnion(args[0], args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}}))
}

// seen is what a reader saw: whose records, in which order, and which of them were said to be erased.
type seen struct {
	Places []events.Place
	Erased events.Position // of the other log; 0: none
}

// growUnion appends to a log in dir and hands over records of the log at source, in turns, and erases one of them
// before it comes. What a reader can see goes to witness after each.
func growUnion(dir, source, witness string) error {
	ctx := context.Background()
	other, err := eventlog.OpenReadOnly(source, quick)
	if err != nil {
		return err
	}
	own, err := eventlog.Open(filepath.Join(dir, "log"), quick)
	if err != nil {
		return err
	}
	u, err := union.Open(own, union.Config{Dir: filepath.Join(dir, "copies"), Copies: quick})
	if err != nil {
		return err
	}
	out, err := os.Create(witness)
	if err != nil {
		return err
	}
	var s seen
	look := func() error {
		s.Places = nil
		for r, err := range u.All(ctx, 1) {
			if err != nil {
				return err
			}
			s.Places = append(s.Places, r.Place())
		}
		return json.NewEncoder(out).Encode(s)
	}
	id, err := eventlog.ID(ctx, other)
	for n := events.Position(1); n <= 4 && err == nil; n++ {
		if _, err = eventlog.AppendEnd(ctx, own, events.Daemon, logtest.Draft("own")); err != nil {
			return err
		}
		run := union.Run{Log: id}
		for r, err := range other.Between(ctx, 2*n-1, 2*n) {
			if err != nil {
				return err
			}
			run.Records = append(run.Records, r)
		}
		if n == 3 {
			if err = u.Erase(ctx, events.Place{Log: id, Position: 6}); err != nil {
				return err
			}
			s.Erased = 6
			run.Needs = []events.Place{{Log: events.LogID{42}, Position: 1}} // it waits, and the next one with it
		}
		err = errors.Join(look(), u.Add(ctx, run), look())
	}
	return errors.Join(err, u.Compact(ctx), look(), u.Close(), own.Close(), other.Close())
}

// TestKilledAtEachStep kills a process before each change that it makes to a file, opens the union again, and goes on:
// the order that was seen is the order, what was erased stays so, and all comes in the end.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	race.SkipProcesses(t)
	if testing.Short() {
		t.Skip("starts some 70 processes")
	}
	source := filepath.Join(t.TempDir(), "other")
	other, err := eventlog.Open(source, quick)
	if err != nil {
		t.Fatal(err)
	}
	all := mustAppend(t, other, logtest.Session("b"), "1", "2", "3", "4", "5", "6", "7", "8")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	crash.EachStep(t, "grow", func(t *testing.T, dir string, kill func(...string) string) {
		witness := filepath.Join(t.TempDir(), "witness")
		step := kill(dir, source, witness)
		own, err := eventlog.Open(filepath.Join(dir, "log"), quick)
		if err != nil {
			t.Fatalf("before %q: %v", step, err)
		}
		defer own.Close()
		u := open(t, own, filepath.Join(dir, "copies"))
		defer u.Close()
		checkSeen(t, step, u, lastSeen(t, witness))
		mustAppend(t, own, events.Daemon, "after")
		mustAdd(t, u, union.Run{Log: events.LogIDOf(all[0]), Records: all})
		checkSeen(t, step, u, lastSeen(t, witness))
		if id := idOf(t, u); id != mustID(t, own) {
			t.Errorf("before %q: the order was made anew", step)
		}
		for _, c := range u.Copies() {
			if c.Log == events.LogIDOf(all[0]) && (c.Last != 8 || c.Damage != "") {
				t.Errorf("before %q: %+v", step, c)
			}
		}
	})
}

// lastSeen is the last whole line of a witness.
func lastSeen(t *testing.T, path string) (s seen) {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return s
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) > 1 && err == nil {
		err = json.Unmarshal([]byte(lines[len(lines)-2]), &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkSeen checks that what was seen is the beginning of what there is.
func checkSeen(t *testing.T, step string, u *union.Union, was seen) {
	t.Helper()
	var places []events.Place
	for r, err := range u.All(t.Context(), 1) {
		if err != nil {
			t.Fatalf("before %q: %v", step, err)
		}
		places = append(places, r.Place())
		if p := r.Place(); !p.Log.IsZero() && was.Erased != 0 && r.Erased != (p.Position == was.Erased) {
			t.Errorf("before %q: record %d of the other log: erased %v", step, p.Position, r.Erased)
		}
	}
	if len(places) < len(was.Places) || !slices.Equal(places[:len(was.Places)], was.Places) {
		t.Errorf("before %q: it was %v, it is %v", step, was.Places, places)
	}
}
