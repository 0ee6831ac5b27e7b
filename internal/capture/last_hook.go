package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// reportedPath is an empty file whose time is that of an agent's last hook.
func reportedPath(home, agent string) string { return filepath.Join(home, "run", "reported", agent) }

// LastReported is when a hook of an agent was last called of which a daemon of that home got to know, at once or from the spool;
// zero: of none. Transcripts do not count. It needs no daemon.
func LastReported(home, agent string) (time.Time, error) {
	info, err := os.Stat(reportedPath(home, agent))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// notedEvery is how much later a hook has to be than the one that was noted, to be noted too.
const notedEvery = time.Second

// noteReported notes that a hook of an agent was called. What waited in the spool is no news, and a note from the future was made by a
// clock that was wrong. A note that cannot be made keeps nothing from the log.
func (p *Pipeline) noteReported(agent string, at time.Time) {
	if noted, ok := p.noted.Load(agent); ok && at.Sub(noted.(time.Time)).Abs() < notedEvery {
		return
	}
	last, err := LastReported(p.cfg.Home, agent)
	if err == nil && last.After(at) && !last.After(p.cfg.Now()) {
		return
	}
	path := reportedPath(p.cfg.Home, agent)
	if last.IsZero() && err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600))
	}
	if err == nil {
		err = os.Chtimes(path, at, at)
	}
	if err != nil {
		p.logger.Debug("when a hook was called cannot be noted", "err", err)
		return
	}
	p.noted.Store(agent, at)
}
