package signin

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

const (
	codeBytes    = 16               // nobody guesses 128 bits in a minute
	idBytes      = 16               // of a viewer's id
	codeLifetime = time.Minute      // in which a browser must have used it
	codeKept     = 10 * time.Minute // in which a second use is noticed
	maxLinks     = 64               // kept at once; one more lets go of the one that is needed least
	maxDropped   = 64               // viewers that hear why they are out
)

// Link makes a code that lets in one browser with scope, once, until the time that is returned.
func (r *Register) Link(scope api.Scope) (code string, expires time.Time) {
	code = random(codeBytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.links = append(r.links, &link{code: digestOf(code), scope: scope, made: now})
	r.boundLinks(now)
	return code, now.Add(codeLifetime)
}

// boundLinks lets go of links that are needed least, the oldest first, while there are too many. A code that let somebody in stays, so
// that nobody hides its second use behind many links: there are no more of those than viewers. mu is held.
func (r *Register) boundLinks(now time.Time) {
	for len(r.links) > maxLinks {
		least := slices.MinFunc(r.links, func(a, b *link) int { return cmp.Compare(r.need(a, now), r.need(b, now)) })
		if r.need(least, now) == needUsed {
			return
		}
		r.links = slices.DeleteFunc(r.links, func(l *link) bool { return l == least })
	}
}

// What letting go of a link would lose, the least first.
const (
	needNone = iota // it opens nothing any more, and no viewer is let in by it
	needView        // a browser that is to view
	needEdit        // a person's browser
	needUsed        // a second use of it would go unnoticed
)

// need is what letting go of l would lose. mu is held.
func (r *Register) need(l *link, now time.Time) int {
	isOf := func(v *viewer) bool { return v.ID == l.viewer }
	switch {
	case l.failed, l.viewer != "" && !slices.ContainsFunc(r.viewers, isOf), !l.used && now.Sub(l.made) > codeLifetime:
		return needNone
	case l.used:
		return needUsed
	case l.scope == api.ScopeView:
		return needView
	}
	return needEdit
}

// Enrol lets in the browser that has the code of a link, by the public key that it signs with, and returns when that is on disk. One that
// is let in by that key already stays the viewer that it is, and may do no less than before. Errors are ErrCode, ErrUsedTwice, ErrKey,
// ErrFull, or why the file cannot be written: then nobody is let in. The code is used up in any case.
func (r *Register) Enrol(code string, key []byte) (api.Viewer, error) {
	l, err := r.use(code)
	if err != nil {
		return api.Viewer{}, err
	}
	v, err := r.letIn(l, key)
	if err != nil {
		r.mu.Lock()
		l.failed = true
		r.mu.Unlock()
		return api.Viewer{}, err
	}
	if r.isSpoiled(l) {
		r.dropSpoiled(v.ID)
		return api.Viewer{}, ErrUsedTwice
	}
	r.logger.Info("a browser was let in", "viewer", v.ID, "scope", v.Scope)
	return v, nil
}

// letIn makes a viewer of who used l.
func (r *Register) letIn(l *link, key []byte) (api.Viewer, error) {
	public, err := publicKey(key)
	if err != nil {
		return api.Viewer{}, err
	}
	now := r.now()
	v := &viewer{Viewer: api.Viewer{ID: random(idBytes), Scope: l.scope, Created: now, Used: now}, raw: slices.Clone(key), key: public}
	return r.add(v, l)
}

// use uses up a code. A second use drops the viewer that the first one made.
func (r *Register) use(code string) (*link, error) {
	l, spoiled, err := r.take(code)
	if spoiled != "" {
		r.dropSpoiled(spoiled)
	}
	return l, err
}

// take marks a code as used. Of one that was used before it returns the viewer that it let in, if that is known yet.
func (r *Register) take(code string) (l *link, spoiled string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.links = slices.DeleteFunc(r.links, func(l *link) bool { return now.Sub(l.made) > codeKept })
	is := digestOf(code)
	i := slices.IndexFunc(r.links, func(l *link) bool { return l.code == is })
	if i < 0 {
		return nil, "", ErrCode
	}
	switch l = r.links[i]; {
	case l.used:
		l.again = true
		return nil, l.viewer, ErrUsedTwice
	case now.Sub(l.made) > codeLifetime:
		return nil, "", ErrCode
	}
	l.used = true
	return l, "", nil
}

// isSpoiled reports whether the code of l was used twice, or made worthless by DropAll, while it let a browser in.
func (r *Register) isSpoiled(l *link) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return l.again || !slices.Contains(r.links, l)
}

// dropSpoiled drops the viewer whose code was used twice, and remembers why.
func (r *Register) dropSpoiled(id string) {
	r.mu.Lock()
	r.dropped = append(r.dropped, id)
	r.dropped = r.dropped[max(0, len(r.dropped)-maxDropped):]
	r.mu.Unlock()
	switch err := r.Drop(id); {
	case errors.Is(err, ErrViewer): // it is out already
	case err != nil:
		r.logger.Error("a browser that is out stands in the file still", "viewer", id, "err", err)
	default:
		r.logger.Warn("a link to the page was used twice; the browser that it let in is out: `cmemd ui` opens the page anew", "viewer", id)
	}
}

// add lets v in, in the place of another where there are too many or that has its key.
func (r *Register) add(v *viewer, by *link) (api.Viewer, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	r.forgetUnused()
	all, gone := withViewer(r.viewers, v)
	stay := storedOf(all)
	r.mu.Unlock()
	if len(gone) > 0 && gone[0] == v {
		return api.Viewer{}, ErrFull
	}
	if err := save(r.path, stay); err != nil {
		return api.Viewer{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range gone {
		if g.ID == v.ID {
			v.nonces = g.nonces
		}
		r.endSessions(g)
	}
	r.viewers, by.viewer = all, v.ID
	return v.Viewer, nil
}

// withViewer adds v to viewers, and returns those that had to go. A viewer of the same key is replaced: v keeps its id, and its tabs
// sign in anew. Beyond MaxViewers those go first that may only view, so that none of them takes the place of a person's, and among
// equals those that were used longest ago.
func withViewer(viewers []*viewer, v *viewer) (all, gone []*viewer) {
	all = slices.Clone(viewers)
	if i := slices.IndexFunc(all, func(old *viewer) bool { return bytes.Equal(old.raw, v.raw) }); i >= 0 {
		old := all[i]
		v.ID, v.Created, v.Scope, all[i] = old.ID, old.Created, max(v.Scope, old.Scope), v
		return all, []*viewer{old}
	}
	all = append(all, v)
	slices.SortStableFunc(all, func(a, b *viewer) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), a.Used.Compare(b.Used))
	})
	over := max(0, len(all)-MaxViewers)
	return all[over:], all[:over]
}
