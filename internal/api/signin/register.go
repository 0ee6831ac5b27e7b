package signin

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

// MaxViewers is how many browsers there are at once. One more takes the place of the one that was used longest ago, of those that only
// view first.
const MaxViewers = 16

const (
	unusedFor = 30 * 24 * time.Hour // after which a viewer is forgotten
	usedEvery = 24 * time.Hour      // how old the file's word of a viewer's last use may be
)

// Errors of Enrol, Nonce and SignIn.
var (
	ErrCode      = errors.New("signin: that code opens nothing: it was used, is older than a minute, or never was one")
	ErrUsedTwice = errors.New("signin: that code was used before: the browser that it let in is out again")
	ErrKey       = errors.New("signin: that is no public key of P-256")
	ErrFull      = errors.New("signin: sixteen browsers that edit are let in, and one that only views takes no place of theirs")
	ErrViewer    = errors.New("signin: no such browser is let in")
	ErrDropped   = errors.New("signin: this browser is out: its link was used a second time")
	ErrSignature = errors.New("signin: that signs no nonce of this daemon's, or not with this browser's key")
)

// Config is what a Register needs besides its file.
type Config struct {
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discarded
}

// Register knows the links that are open, the viewers, and the tabs that are signed in. It is safe for concurrent use.
type Register struct {
	path   string
	now    func() time.Time
	logger *slog.Logger

	changing sync.Mutex // held while viewers and the file change: they never differ

	mu      sync.Mutex // guards the fields below
	links   []*link    // oldest first
	viewers []*viewer
	bearers map[digest]*session
	dropped []string // viewers whose link was used twice, the latest last
}

// Open returns a register over the file at path, whose folder must exist. What is in it and cannot be read lets nobody in: err says so,
// and the register works all the same.
func Open(path string, cfg Config) (*Register, error) {
	r := &Register{path: path, now: cfg.Now, logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), bearers: map[digest]*session{}}
	if r.now == nil {
		r.now = time.Now
	}
	var err error
	r.viewers, err = load(path)
	return r, err
}

// Viewers lists the browsers that are let in, the one used last first.
func (r *Register) Viewers() []api.Viewer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forgetUnused()
	out := []api.Viewer{}
	for _, v := range slices.Backward(r.viewers) {
		out = append(out, v.Viewer)
	}
	slices.SortStableFunc(out, func(a, b api.Viewer) int { return b.Used.Compare(a.Used) })
	return out
}

// Drop lets a viewer in no more, and ends what its tabs are at. It returns ErrViewer where there is none of that id, or why the file
// still names it.
func (r *Register) Drop(id string) error {
	n, err := r.drop(func(v *viewer) bool { return v.ID == id })
	if n == 0 {
		return ErrViewer
	}
	return err
}

// DropAll is Drop of all viewers, and makes open links worthless. It returns how many viewers there were.
func (r *Register) DropAll() (n int, err error) {
	r.mu.Lock()
	r.links = nil
	r.mu.Unlock()
	return r.drop(func(*viewer) bool { return true })
}

// drop is Drop of those that which chooses.
func (r *Register) drop(which func(*viewer) bool) (n int, err error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	before := len(r.viewers)
	r.viewers = slices.DeleteFunc(r.viewers, func(v *viewer) bool {
		gone := which(v)
		if gone {
			r.endSessions(v)
		}
		return gone
	})
	stay := storedOf(r.viewers)
	n = before - len(stay)
	r.mu.Unlock()
	if n > 0 {
		err = save(r.path, stay)
	}
	return n, err
}

// forgetUnused lets go of viewers that nobody used for a long time. The file follows with the next change. mu is held.
func (r *Register) forgetUnused() {
	r.viewers = slices.DeleteFunc(r.viewers, func(v *viewer) bool {
		gone := r.now().Sub(v.Used) > unusedFor
		if gone {
			r.endSessions(v)
		}
		return gone
	})
}

// find is the viewer of that id; nil: there is none. mu is held.
func (r *Register) find(id string) *viewer {
	r.forgetUnused()
	i := slices.IndexFunc(r.viewers, func(v *viewer) bool { return v.ID == id })
	if i < 0 {
		return nil
	}
	return r.viewers[i]
}

// end lets a tab in no more. mu is held.
func (r *Register) end(s *session) {
	delete(r.bearers, s.digest)
	close(s.ended)
}

// endSessions lets no tab of v in any more. mu is held.
func (r *Register) endSessions(v *viewer) {
	for _, s := range v.sessions {
		r.end(s)
	}
	v.sessions, v.nonces = nil, nil
}
