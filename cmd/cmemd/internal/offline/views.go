package offline

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/memory/curation"
	"github.com/cmemd/cmemd/internal/process"
	"github.com/cmemd/cmemd/projections"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/index"
)

// compareViews opens copies of a home's views and index as the next daemon would, over copies of other machines' logs where it
// has such, brings them to the end, and sets them beside what the logs lead to. The home's own files stay as they are.
func compareViews(ctx context.Context, log *eventlog.Bolt, home string, progress func(done, total uint64)) (out api.Compared, err error) {
	p := homedir.PathsOf(home)
	err = p.WithScratch(ctx, func(ctx context.Context, dir string) (err error) {
		out, err = compareIn(ctx, dir, log, p, progress)
		return err
	})
	return out, err
}

// compareIn is compareViews with a folder for the copies.
func compareIn(
	ctx context.Context, dir string, log *eventlog.Bolt, p homedir.Paths, progress func(done, total uint64),
) (out api.Compared, err error) {
	views, copies := filepath.Join(dir, "views"), filepath.Join(dir, "copies")
	if err := errors.Join(copyTree(p.Views, views), copyTree(p.Copies, copies)); err != nil {
		return out, err
	}
	all, err := union.Open(log, union.Config{Dir: copies, Copies: eventlog.Config{NoSync: true}})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	inside, err := filepath.Rel(p.Views, p.Index)
	if err != nil {
		return out, err
	}
	return compareCopies(ctx, p.WithScratch, union.Log{Union: all}, log, views, filepath.Join(views, inside), progress)
}

// compareCopies opens views and an index over what they follow, whose own log is own, and sets them beside what that leads to.
// They are changed.
func compareCopies(
	ctx context.Context, scratch curation.Scratch, log union.Log, own *eventlog.Bolt, viewsDir, indexDir string, progress func(done, total uint64),
) (out api.Compared, err error) {
	said := &collector{}
	views, err := projections.Open(viewsDir, log, engine.Config{BootID: process.BootID(), Logger: slog.New(said)})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, views.Close()) }()
	ix, err := index.Open(ctx, indexDir, log, index.Config{Logger: slog.New(said), Brief: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, ix.Close()) }()
	if err := errors.Join(views.CatchUp(ctx), ix.CatchUp(ctx)); err != nil {
		return out, err
	}
	out, err = curation.CompareViews(ctx, scratch, log, own, views, ix, progress)
	out.Anew = said.all()
	return out, err
}

// copyTree copies the regular files below a folder. One that is not there is an empty one.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target := filepath.Join(to, inside); {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular():
			return durable.SwapCopy(path, target, homedir.OwnFile)
		}
		return nil
	})
}

// collector keeps what is logged as a warning, each as its message and its reason.
type collector struct {
	mu    sync.Mutex // guards said
	lines []string
}

// Enabled implements slog.Handler.
func (*collector) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (c *collector) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += ", " + a.Value.String()
		return true
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
	return nil
}

// WithAttrs implements slog.Handler.
func (c *collector) WithAttrs([]slog.Attr) slog.Handler { return c }

// WithGroup implements slog.Handler.
func (c *collector) WithGroup(string) slog.Handler { return c }

func (c *collector) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines
}
