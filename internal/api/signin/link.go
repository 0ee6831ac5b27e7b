package signin

import (
	"errors"
	"slices"
	"time"

	"github.com/cmemd/cmemd/internal/api"
)

const (
	codeBytes  = 16               // nobody guesses 128 bits in a minute
	idBytes    = 16               // of a viewer's id
	codeLasts  = time.Minute      // in which a browser must have used it
	codeKept   = 10 * time.Minute // in which a second use is noticed
	maxLinks   = 64               // kept at once; one more lets go of the oldest
	maxDropped = 64               // viewers that are told why they are out
)

// Link makes a code that lets in one browser with scope, once, until the time that is returned.
func (r *Register) Link(scope api.Scope) (code string, expires time.Time) {
	code = random(codeBytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.links = append(r.links, &link{code: digestOf(code), scope: scope, made: now})
	r.links = r.links[max(0, len(r.links)-maxLinks):]
	return code, now.Add(codeLasts)
}

// Enrol lets in the browser that has the code of a link, by the public key that it signs with, and returns when that is on disk. Errors
// are ErrCode, ErrUsedTwice, ErrKey, or why the file cannot be written: then nobody is let in. The code is used up in any case.
func (r *Register) Enrol(code string, key []byte) (Viewer, error) {
	l, err := r.use(code)
	if err != nil {
		return Viewer{}, err
	}
	public, err := publicKey(key)
	if err != nil {
		return Viewer{}, err
	}
	now := r.now()
	v := &viewer{Viewer: Viewer{ID: random(idBytes), Scope: l.scope, Created: now, Used: now}, raw: slices.Clone(key), key: public}
	if err := r.add(v, l); err != nil {
		return Viewer{}, err
	}
	if r.isSpoiled(l) {
		r.dropSpoiled(v.ID)
		return Viewer{}, ErrUsedTwice
	}
	r.logger.Info("a browser was let in", "viewer", v.ID, "scope", v.Scope)
	return v.Viewer, nil
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
	case now.Sub(l.made) > codeLasts:
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

// add lets v in, in the place of the one that was used longest ago where there are too many.
func (r *Register) add(v *viewer, by *link) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	r.forgetUnused()
	all := append(slices.Clone(r.viewers), v)
	r.mu.Unlock()
	slices.SortStableFunc(all, func(a, b *viewer) int { return a.Used.Compare(b.Used) })
	gone := all[:max(0, len(all)-MaxViewers)]
	all = all[len(gone):]
	r.mu.Lock()
	stay := storedOf(all)
	r.mu.Unlock()
	if err := save(r.path, stay); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range gone {
		r.endSessions(g)
	}
	r.viewers, by.viewer = all, v.ID
	return nil
}
