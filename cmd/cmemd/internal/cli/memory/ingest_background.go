package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/internal/sleep"
)

// OldSessions are transcripts that lie in the folders of their agents.
type OldSessions struct {
	Folders []string  `json:"folders"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Oldest  time.Time `json:"oldest,omitzero"` // when the file was last written
	Newest  time.Time `json:"newest,omitzero"`
}

// FindOldSessions looks through the folders in which agents of the person keep their transcripts. What cannot be looked at is left out.
func FindOldSessions(a *terminal.App) (old OldSessions, err error) {
	if old.Folders, err = transcriptFolders(a); err != nil {
		return old, err
	}
	files, err := transcripts(old.Folders)
	for i, f := range files {
		if old.Bytes += f.size; i == 0 {
			old.Oldest = f.at
		}
		old.Newest = f.at
	}
	old.Files = len(files)
	return old, err
}

// transcriptFolders are the folders in which agents of the person keep their transcripts, as far as they are there.
func transcriptFolders(a *terminal.App) (folders []string, err error) {
	person, err := relay.UserHome()
	if err != nil {
		return nil, err
	}
	for _, agent := range known.All() {
		for _, below := range agent.Transcripts {
			dir := filepath.Join(agent.Folder.Path(runtime.GOOS, person, a.Getenv), below)
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				folders = append(folders, dir)
			}
		}
	}
	return folders, nil
}

// An ingestNote writes down how far an ingest is; nil: nobody wants to know.
type ingestNote struct {
	homedir.Ingest
	path string
}

// noteIngest writes down that an ingest begins.
func noteIngest(a *terminal.App, files []transcript) (*ingestNote, error) {
	p, err := homedir.Made(a)
	if err != nil {
		return nil, err
	}
	n := &ingestNote{homedir.NewIngest(a.Now(), len(files), sizeOf(files)), p.Ingest}
	return n, n.Write(n.path)
}

// add writes down what became of one more file, of so many bytes. What cannot be written now the next one writes.
func (n *ingestNote) add(size int64, captured int, failed error) {
	if n == nil {
		return
	}
	n.Done, n.DoneBytes, n.Captured = n.Done+1, n.DoneBytes+size, n.Captured+captured
	if failed != nil {
		n.Failed++
	}
	_ = n.Write(n.path)
}

// end writes down that all files were gone through.
func (n *ingestNote) end(now time.Time) {
	if n == nil {
		return
	}
	n.Ended = now.UTC()
	_ = n.Write(n.path) // without it this one counts as interrupted, and may be begun again
}

// ingestInBackground has a process of its own take in what paths name, and says so.
func ingestInBackground(ctx context.Context, a *terminal.App, agent string, paths []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for i := range paths {
		if paths[i], err = filepath.Abs(paths[i]); err != nil {
			return err
		}
	}
	i, err := Background(ctx, a, self, agent, paths)
	if err != nil {
		return err
	}
	return a.ShowLine(i, "%s (%s) are being taken in, the newest first; `cmemd status` says how far it is\n", number.Plural(i.Files, "transcript"), terminal.Size(i.Bytes))
}

// beginTimeout is how long a process of its own may take to begin: it lists the files first.
const beginTimeout = 10 * time.Second

// Background has program, a cmemd, take in the transcripts at absolute paths in a process that outlives this command, the newest first. It
// returns when that has begun, or the one that is at work already.
func Background(ctx context.Context, a *terminal.App, program, agent string, paths []string) (i homedir.Ingest, err error) {
	if err := ctx.Err(); err != nil { // nobody wants it any more
		return i, err
	}
	p, err := homedir.Made(a)
	if err != nil {
		return i, err
	}
	if i, err = homedir.ReadIngest(p.Ingest); err == nil && i.Runs() {
		return i, nil
	}
	said, err := os.OpenFile(p.IngestLog, os.O_RDWR|os.O_CREATE|os.O_TRUNC, homedir.OwnFile)
	if err != nil {
		return i, err
	}
	defer said.Close()
	args := []string{"--home", p.Home, "ingest", "--newest-first", "--note"}
	if agent != "" {
		args = append(args, "--agent", agent)
	}
	cmd := exec.Command(program, append(append(args, "--"), paths...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Home, a.Environ, said, said
	process.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return i, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // it outlives this command
	return awaitIngest(ctx, p, cmd.Process.Pid, ended, said)
}

// awaitIngest returns what the process pid has written down; ended tells once when that has ended.
func awaitIngest(ctx context.Context, p homedir.Paths, pid int, ended <-chan error, said io.ReaderAt) (homedir.Ingest, error) {
	late := time.After(beginTimeout)
	for over := false; ; {
		i, err := homedir.ReadIngest(p.Ingest)
		if err == nil && i.PID == pid {
			return i, nil
		}
		if over {
			b := make([]byte, terminal.MaxSaid)
			n, _ := said.ReadAt(b, 0) // the end of the file is no error
			return i, fmt.Errorf("old sessions are not taken in: %s", strings.TrimSpace(string(b[:n])))
		}
		select {
		case <-ended:
			over = true // and may have written it down before
		case <-ctx.Done():
			return i, ctx.Err()
		case <-late:
			return i, terminal.Advise(errors.New("old sessions are not being taken in yet"), "see %s", p.IngestLog)
		case <-time.After(followEvery):
		}
	}
}

// followEvery is between two looks at how far it has come.
const followEvery = 100 * time.Millisecond

// FollowIngest shows how far sessions are taken in by a process of its own, and returns where that stands once it has ended, is gone, or
// limit is over; 0 is no limit.
func FollowIngest(ctx context.Context, a *terminal.App, limit time.Duration) (i homedir.Ingest, err error) {
	p, err := homedir.Of(a)
	if err != nil {
		return i, err
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	m := a.Meter("old sessions", 0, true)
	defer m.End()
	for {
		i, err := homedir.ReadIngest(p.Ingest)
		if err != nil || !i.Runs() || ctx.Err() != nil {
			return i, err
		}
		m.Set(uint64(i.DoneBytes), uint64(i.Bytes))
		_ = sleep.For(ctx, followEvery) // looked at once more before it ends
	}
}
