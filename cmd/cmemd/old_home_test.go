package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
)

// oldHomeFile is absolute: scripts run in folders of their own.
var oldHomeFile = sync.OnceValue(func() string {
	path, err := filepath.Abs(filepath.Join("testdata", "home_b68bbbc.tar.gz"))
	if err != nil {
		panic(err)
	}
	return path
})

// oldHome lays out the home that an earlier cmemd left, as it stood at revision b68bbbc: three sessions that the extractor observed,
// one of them forgotten, one whose observer crashed and then spoke prose, a memory and its correction, views and an index, and one
// payload in the spool that nobody has taken yet.
func oldHome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: oldhome")
	}
	file, err := os.Open(oldHomeFile())
	ts.Check(err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	ts.Check(err)
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		ts.Check(err)
		path := filepath.Join(filepath.Dir(home(ts).Home), filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			ts.Check(os.MkdirAll(path, 0o700))
			continue
		}
		b, err := io.ReadAll(in)
		ts.Check(err)
		ts.Check(os.WriteFile(path, b, 0o600))
	}
}

// oldClones adds to a log what an earlier cmemd, which believed each folder's claim, had of folders with one key: a session in each of them,
// and a memory that says which folder it is of.
func oldClones(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: oldclones KEY FOLDER...")
	}
	log, err := eventlog.Open(home(ts).Log, eventlog.Config{})
	ts.Check(err)
	for i, folder := range args[1:] {
		root, err := filepath.EvalSymlinks(ts.MkAbs(folder))
		ts.Check(err)
		session, at := fmt.Sprintf("old-%d", i), time.Now().AddDate(0, 0, -20+i)
		opened := events.SessionOpened{
			Agent: "claude-code", AgentSession: session, Source: "startup", Project: filepath.Base(root), ProjectRoot: root, ProjectKey: args[0],
			Cwd: root, GitRoot: root, GitBranch: "main",
		}
		saved := events.MemorySaved{
			Memory: newEventID(), Project: opened.Project, ProjectRoot: root, Type: "decision", Title: "Carts of " + folder + " live a week", At: at,
		}
		for stream, e := range map[events.StreamID]events.Event{events.SessionIDOf("claude-code", session).Stream(): opened, events.Daemon: saved} {
			_, err = eventlog.AppendEnd(context.Background(), log, stream, events.Draft{ID: newEventID(), OccurredAt: at, Event: e})
			ts.Check(err)
		}
	}
	ts.Check(log.Close())
}

func newEventID() events.ID { return events.ID(uuid.Must(uuid.NewV7())) }
