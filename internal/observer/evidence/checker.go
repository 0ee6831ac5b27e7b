package evidence

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/cmemd/cmemd/events"
)

// Checker asks git about commits, in one process a Check. It holds none between two of them, and is safe for concurrent use.
type Checker struct {
	cfg   Config
	slots *semaphore.Weighted // as many Checks as may run at once
}

// NewChecker returns a Checker that has asked nothing yet.
func NewChecker(cfg Config) *Checker {
	cfg = cfg.withDefaults()
	return &Checker{cfg: cfg, slots: semaphore.NewWeighted(int64(cfg.Processes))}
}

// Check returns one claim a hash, in order: verified with the full hash as evidence if the repository that dir lies in
// has that commit; absent if it has no such object or one of another kind; unknown, with the reason, where nobody can
// tell: no repository, a shallow one, an ambiguous hash, git missing, failing or slower than Config.Timeout.
func (c *Checker) Check(ctx context.Context, dir string, hashes []string) []events.Claim {
	claims := make([]events.Claim, len(hashes))
	for i, h := range hashes {
		claims[i] = events.Claim{Kind: "commit", Value: h, Verdict: events.Unknown}
	}
	if len(hashes) == 0 {
		return claims
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if reason := c.checkAll(ctx, dir, claims); reason != "" {
		for i := range claims {
			claims[i].Evidence = cmp.Or(claims[i].Evidence, reason)
		}
	}
	return claims
}

// checkAll fills claims as far as git answers, and returns why it does not go on.
func (c *Checker) checkAll(ctx context.Context, dir string, claims []events.Claim) (reason string) {
	repo, ok := locate(dir)
	if !ok {
		return "no repository"
	}
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return stopped(ctx, err)
	}
	defer c.slots.Release(1)
	err := c.ask(ctx, repo.Root, claims)
	if repo.isShallow() {
		for i := range claims {
			if claims[i].Verdict == events.Absent {
				claims[i].Verdict, claims[i].Evidence = events.Unknown, "shallow clone"
			}
		}
	}
	if err != nil {
		return stopped(ctx, err)
	}
	return ""
}

// maxUnreachable is how many commits that no reference leads to are listed: those behind them count as reachable.
const maxUnreachable = 10_000

// Unreachable returns those of commits, full hashes of the repository that dir lies in, to which neither a branch, a tag or another
// reference leads nor HEAD. They were amended or rebased away, or their branch was deleted, and git keeps them for some weeks yet. None
// where nobody can tell.
func (c *Checker) Unreachable(ctx context.Context, dir string, commits []string) (gone []string) {
	repo, ok := locate(dir)
	if !ok || len(commits) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if c.slots.Acquire(ctx, 1) != nil {
		return nil
	}
	defer c.slots.Release(1)
	args := slices.Concat([]string{"rev-list", "--max-count=" + strconv.Itoa(maxUnreachable)}, commits, []string{"--not", "--all"})
	listed, err := runGit(ctx, c.cfg, repo.Root, "", maxAnswers, args...)
	if err != nil {
		return nil
	}
	for hash := range strings.FieldsSeq(listed) {
		if slices.Contains(commits, hash) {
			gone = append(gone, hash)
		}
	}
	return gone
}

func stopped(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timed out"
	case ctx.Err() != nil:
		return "cancelled"
	}
	return err.Error()
}

// Repo describes the repository that cwd lies in, worktrees and subfolders included. It reads git's files; git itself
// is asked, at most for Config.Timeout, only where they do not tell. ok is false where there is no repository.
func (c *Checker) Repo(ctx context.Context, cwd string) (repo Repo, ok bool) {
	repo, ok = locate(cwd)
	if !ok {
		return Repo{}, false
	}
	ref := repo.readHead()
	if ref == unreadableRef {
		repo.Branch, repo.Head = c.cfg.askHead(ctx, repo.Root)
	}
	return repo, true
}
