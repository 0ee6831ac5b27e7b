package offline

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/socket"
)

// manyRecords is more than is read of a log at once.
const manyRecords = 3000

// longHome is the home of a log of manyRecords.
func longHome(t *testing.T) homedir.Paths {
	t.Helper()
	home := socket.Dir(t)
	p := homedir.PathsOf(home)
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(p.Log, eventlog.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	drafts := make([]events.Draft, manyRecords)
	for i := range drafts {
		drafts[i] = logtest.Draft(fmt.Sprint(i))
	}
	if _, err := log.Append(t.Context(), logtest.Session("a"), 0, drafts...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// startDaemon takes the log of a home as a daemon does, and answers with it.
func startDaemon(t *testing.T, p homedir.Paths) {
	t.Helper()
	withdraw, err := p.WantLog()
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(p.Log, eventlog.Config{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := withdraw(); err != nil {
		t.Error(err)
	}
	l, err := net.Listen("unix", p.Socket)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	mux.HandleFunc("GET "+api.LogStatsRoute.Path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"records": %d}`, manyRecords) })
	mux.HandleFunc("GET "+api.BackupRoute.Path, func(w http.ResponseWriter, r *http.Request) { _, _ = log.CopyTo(r.Context(), w) })
	mux.HandleFunc("GET "+api.LogExportRoute.Path, func(w http.ResponseWriter, r *http.Request) {
		var from events.Position
		fmt.Sscan(r.URL.Query().Get("from"), &from)
		_, _ = eventlog.Export(r.Context(), log, w, from)
	})
	s := &http.Server{Handler: mux}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { s.Close(); log.Close() })
}

// TestLogIsGivenToADaemon: what reads a log lets go of it when a daemon wants it, in the middle of whatever it does, and what was
// asked comes whole.
func TestLogIsGivenToADaemon(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(t *testing.T, log Source, meanwhile func()) error{
		"records": func(t *testing.T, log Source, meanwhile func()) error {
			last := events.Position(0)
			for r, err := range Records(t.Context(), log) {
				if err != nil {
					return err
				}
				if last++; r.Position != last {
					t.Fatalf("record %d follows %d", r.Position, last-1)
				}
				if last == 1 {
					meanwhile()
				}
			}
			if last != manyRecords {
				t.Errorf("%d records, want %d", last, manyRecords)
			}
			return nil
		},
		"export": func(t *testing.T, log Source, meanwhile func()) error {
			in, out := io.Pipe()
			go func() { out.CloseWithError(log.Export(t.Context(), out, 1)) }()
			buf := make([]byte, 1)
			_, _ = in.Read(buf)
			meanwhile()
			n := 0
			for _, err := range eventlog.ReadExport(t.Context(), io.MultiReader(bytes.NewReader(buf), in)) {
				if err != nil {
					return err
				}
				n++
			}
			if n != manyRecords {
				t.Errorf("%d records, want %d", n, manyRecords)
			}
			return nil
		},
		"backup": func(t *testing.T, log Source, meanwhile func()) error {
			meanwhile()
			var got bytes.Buffer
			err := log.Backup(t.Context(), &got)
			if got.Len() == 0 {
				t.Error("there is no copy")
			}
			return err
		},
		"stats": func(t *testing.T, log Source, meanwhile func()) error {
			meanwhile()
			s, err := api.LogStatsRoute.Call(t.Context(), log, api.NoQuery{})
			if s.Records != manyRecords {
				t.Errorf("%d records, want %d", s.Records, manyRecords)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := longHome(t)
			err := withFile(t.Context(), p.Home, eventlog.Config{}, func(log Source) error { return read(t, log, func() { startDaemon(t, p) }) })
			if err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestLogWantedByNobody: a note of a process that is gone takes the log from nobody.
func TestLogWantedByNobody(t *testing.T) {
	t.Parallel()
	p := longHome(t)
	withdraw, err := p.WantLog()
	if err != nil {
		t.Fatal(err)
	}
	if !p.LogWanted() {
		t.Error("this process wants the log, and it is said that none does")
	}
	if err := withdraw(); err != nil || p.LogWanted() {
		t.Errorf("the log is wanted still: %v", err)
	}
	if err := (homedir.DaemonFile{Identity: process.Identity{PID: os.Getpid(), StartTime: "0", BootID: "another"}}).Write(p.Run + "/log.wanted"); err != nil {
		t.Fatal(err)
	}
	if p.LogWanted() {
		t.Error("a process of another boot is believed to want the log")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file, err := Open(p.Home, eventlog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	file.giveWhenWanted(ctx)
	if err := file.Bolt.Err(); err != nil {
		t.Errorf("it was given to nobody: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}
