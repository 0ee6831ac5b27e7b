package evidence

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxTrees is how many working trees are remembered, a megabyte or two each at most.
	maxTrees = 8
	// maxJournal is how many changes of one working tree are remembered.
	maxJournal = 2000
	// restAfter is how long a working tree is left alone that is too large, or could not be looked at.
	restAfter = 10 * time.Minute
	// snapshotReuse is how young a look has to be to stand for another one.
	snapshotReuse = time.Second
	// clockSkew is how far the clocks of a file system and of an agent may differ from ours.
	clockSkew = time.Second
)

// RunWindow is when a command line ran. A zero Start or End is not known.
type RunWindow struct {
	Start, End time.Time
}

// Tracker finds out which files of a working tree shell commands changed, by looking at the tree before and after. It
// asks git for the names alone and the disk for sizes and times: no filter, hook or monitor of the repository runs, and
// nothing is written. It holds no process and needs no Close. It is safe for concurrent use; looks at one working tree
// queue.
//
// What bites: a person who saves a file of the same tree while a command runs is taken for the command. Ignored files
// are never seen, nor trees of more than 10,000 files.
type Tracker struct {
	cfg   Config
	slots *semaphore.Weighted // as many looks as may run at once

	mu    sync.Mutex // guards the fields below and those of its trees that say so
	clock uint64
	trees map[string]*tree // by top level
}

// tree is a working tree that was looked at.
type tree struct {
	used uint64              // guarded by Tracker.mu
	lock *semaphore.Weighted // holds one token: of whoever looks, who may touch the fields below

	last    *snapshot
	journal []change
	rest    time.Time // not looked at before
}

// change is a file that was not the same at two looks.
type change struct {
	path     string
	from, to time.Time // of the looks
	at       time.Time // when it was written; zero: some time in between
}

// NewTracker returns a Tracker that has seen nothing. Of cfg it heeds Git, Timeout, Processes and Env.
func NewTracker(cfg Config) *Tracker {
	cfg = cfg.withDefaults()
	return &Tracker{cfg: cfg, slots: semaphore.NewWeighted(int64(cfg.Processes)), trees: map[string]*tree{}}
}

// Note looks at the working tree that dir lies in, for later questions to be compared with. It returns after
// Config.Timeout at the latest. A folder without a repository, and a bare one, are passed over.
func (t *Tracker) Note(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	t.visit(ctx, dir, func(tr *tree, repo Repo) {
		if tr.last == nil || time.Since(tr.last.at) > snapshotReuse {
			t.snapshot(ctx, repo, tr)
		}
	})
}

// Changes returns the files of dir's working tree that changed while any of the commands ran, sorted, absolute, at most
// 200: made, written or deleted. A change is told once. It returns after Config.Timeout at the latest, with what it
// knows; where the tree was not looked at before the commands, that is nothing.
func (t *Tracker) Changes(ctx context.Context, dir string, ran []RunWindow) []string {
	if len(ran) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	var found []string
	t.visit(ctx, dir, func(tr *tree, repo Repo) {
		t.snapshot(ctx, repo, tr)
		root := asGiven(dir, repo.Root)
		for _, p := range tr.takeChanges(ran) {
			found = append(found, filepath.Join(root, filepath.FromSlash(p)))
		}
	})
	return found
}

// visit calls do with the tree of dir, while nobody else looks at it.
func (t *Tracker) visit(ctx context.Context, dir string, do func(*tree, Repo)) {
	repo, ok := locate(dir)
	if !ok || repo.bare {
		return
	}
	if t.slots.Acquire(ctx, 1) != nil {
		return
	}
	defer t.slots.Release(1)
	tr := t.worktree(repo.Root)
	if tr.lock.Acquire(ctx, 1) != nil {
		return
	}
	defer tr.lock.Release(1)
	do(tr, repo)
}

// worktree finds or adds the tree. Where that makes too many, the one that was not asked about for longest is forgotten.
func (t *Tracker) worktree(root string) *tree {
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.trees[root]
	if tr == nil {
		if len(t.trees) >= maxTrees {
			delete(t.trees, t.oldest())
		}
		tr = &tree{lock: semaphore.NewWeighted(1)}
		t.trees[root] = tr
	}
	t.clock++
	tr.used = t.clock
	return tr
}

// oldest is the tree that was not asked about for longest. The caller holds mu.
func (t *Tracker) oldest() (root string) {
	for key, tr := range t.trees {
		if root == "" || tr.used < t.trees[root].used {
			root = key
		}
	}
	return root
}

// snapshot lists the working tree and journals what differs from the one before.
func (t *Tracker) snapshot(ctx context.Context, repo Repo, tr *tree) {
	if time.Now().Before(tr.rest) {
		return
	}
	start := time.Now()
	now, err := take(ctx, t.cfg, repo)
	if err != nil {
		if ctx.Err() == nil || time.Since(start) > t.cfg.Timeout/2 { // it was not for want of time alone
			tr.last, tr.rest = nil, time.Now().Add(restAfter)
		}
		return
	}
	if tr.last != nil {
		tr.journal = append(tr.journal, t.compare(ctx, repo.Root, tr.last, now)...)
		tr.journal = tr.journal[max(0, len(tr.journal)-maxJournal):]
	}
	tr.last = now
}

// compare returns what changed between two looks, without what git itself moved; nothing where that cannot be told.
func (t *Tracker) compare(ctx context.Context, root string, before, after *snapshot) (out []change) {
	moved, err := movedByGit(ctx, t.cfg, root, before, after)
	if err != nil {
		return nil
	}
	add := func(path string, at time.Time) {
		if !moved[path] {
			out = append(out, change{path: path, from: before.at, to: after.at, at: at})
		}
	}
	compared := 0
	for path, s := range after.entries {
		old, was := before.entries[path]
		if was && old.size == s.size && old.mtime == s.mtime {
			continue
		}
		if compared++; was && compared <= maxFiles && onlyTouched(filepath.Join(root, filepath.FromSlash(path)), old, s) {
			continue
		}
		at := time.Unix(0, s.mtime)
		if at.Before(before.at.Add(-clockSkew)) { // put there with an older time: moved, unpacked, restored
			at = time.Time{}
		}
		add(path, at)
	}
	for path := range before.entries {
		if _, is := after.entries[path]; !is {
			add(path, time.Time{})
		}
	}
	return out
}

// takeChanges takes out of the journal what changed while one of ran did, each path once, sorted, at most maxFiles.
func (tr *tree) takeChanges(ran []RunWindow) (paths []string) {
	tr.journal = slices.DeleteFunc(tr.journal, func(c change) bool {
		if !slices.ContainsFunc(ran, c.overlaps) {
			return false
		}
		paths = append(paths, c.path)
		return true
	})
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return paths[:min(len(paths), maxFiles)]
}

// overlaps reports whether the change may have been made by a command that ran then.
func (c change) overlaps(r RunWindow) bool {
	from, to := c.at, c.at
	if c.at.IsZero() {
		from, to = c.from, c.to
	}
	return (r.End.IsZero() || !from.After(r.End.Add(clockSkew))) && (r.Start.IsZero() || !to.Before(r.Start.Add(-clockSkew)))
}

// asGiven is root as dir names it: git's files give the real path, agents the one that they were started with.
func asGiven(dir, root string) string {
	real := resolve(dir)
	rest, ok := strings.CutPrefix(real, root)
	dir = filepath.Clean(dir)
	if given, below := strings.CutSuffix(dir, rest); ok && below && filepath.IsAbs(given) {
		return given
	}
	return root
}
