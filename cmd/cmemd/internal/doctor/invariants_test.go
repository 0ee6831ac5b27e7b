package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
	"github.com/cmemd/cmemd/testkit/logtest"
)

// wholeHome is an examination of a home without a daemon: a log of some records, and the views and index of them.
func wholeHome(t *testing.T) *examination {
	t.Helper()
	x := patientAt(t, time.Now())
	x.status, x.daemon, x.deep = nil, api.ErrNotRunning, true
	if err := x.paths.Make(); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(x.paths.Log, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), logtest.Session("a"), 0, logtest.Draft("1"), logtest.Draft("2")); err != nil {
		t.Fatal(err)
	}
	views, err := projections.Open(x.paths.Views, log, engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(t.Context(), x.paths.Index, log, index.Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, made := homedir.MakeToken(x.paths.Token)
	err = errors.Join(made, views.CatchUp(t.Context()), ix.CatchUp(t.Context()), ix.Close(), views.Close(), log.Close())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestInvariants: each of them is told broken where it is, and no other.
func TestInvariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		broken string // empty: none is
		words  string
		state  checkState
		plant  func(x *examination) error
	}{
		"whole": {plant: func(*examination) error { return nil }},
		"a payload that is another": {"records", "payload", stateWrong, func(x *examination) error {
			return replaceIn(x.paths.Log, "\x611", "\x612") // CBOR's text of one letter
		}},
		"a log that is shorter than its views": {"ahead", "the log ends at", stateWrong, func(x *examination) error {
			if err := os.Remove(x.paths.Log); err != nil {
				return err
			}
			log, err := eventlog.Open(x.paths.Log, eventlog.Config{})
			if err == nil {
				_, err = log.Append(context.Background(), logtest.Session("b"), 0, logtest.Draft("other"))
			}
			return errors.Join(err, log.Close())
		}},
		"what is forgotten and not erased": {"forgotten", "position 1", stateWrong, func(x *examination) error {
			log, err := eventlog.Open(x.paths.Log, eventlog.Config{})
			if err == nil {
				d := logtest.Draft("")
				d.Event = events.MemoryForgotten{Positions: []events.Position{1}}
				_, err = log.Append(context.Background(), logtest.Session("a"), 2, d)
			}
			return errors.Join(err, log.Close())
		}},
		"a token that is none":  {"token", "no token", stateWrong, func(x *examination) error { return os.WriteFile(x.paths.Token, []byte("x"), 0o600) }},
		"a file open to others": {"modes", "token", stateNote, func(x *examination) error { return os.Chmod(x.paths.Token, 0o644) }},
		"what a kill left": {"leftovers", ".new-token", stateNote, func(x *examination) error {
			return os.WriteFile(filepath.Join(x.paths.Home, ".new-token-1"), nil, 0o600)
		}},
		"a spool file of nonsense": {"entries", "spool file", stateWrong, func(x *examination) error { return plantEntry(x.paths.Home) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := wholeHome(t)
			if err := c.plant(x); err != nil {
				t.Fatal(err)
			}
			for _, got := range x.diagnose(t.Context(), invariants()).Checks {
				switch {
				case got.Name == c.broken:
					if got.State != c.state || !strings.Contains(got.Detail, c.words) {
						t.Errorf("%s: %s, %q, want %s, %q", got.Name, got.State, got.Detail, c.state, c.words)
					}
				case got.State == stateWrong || c.broken == "" && got.State != stateOK:
					t.Errorf("%s: %s, %q", got.Name, got.State, got.Detail)
				}
			}
		})
	}
}

func replaceIn(path, old, new string) error {
	b, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(b), old) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(string(b), old, new)), 0o600)
}

func plantEntry(home string) error {
	dir := filepath.Join(home, "spool", "new")
	name := "1760000000000000000-01a2178f-fff1-771c-a289-84e6554ad852"
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600))
}
