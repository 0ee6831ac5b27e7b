package evidence

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/cmemd/cmemd/events"
)

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
			if claims[i].Evidence == "" {
				claims[i].Evidence = reason
			}
		}
	}
	return claims
}

// checkAll fills claims until it cannot go on, and then returns why.
func (c *Checker) checkAll(ctx context.Context, dir string, claims []events.Claim) (reason string) {
	repo, ok := locate(dir)
	if !ok {
		return "no repository"
	}
	r, err := c.acquire(ctx, repo)
	if err != nil {
		return stopped(ctx, err)
	}
	defer c.release(r)
	a := asker{checker: c, repo: r}
	shallow := repo.isShallow()
	for i := range claims {
		claim := &claims[i]
		if err := a.check(ctx, claim); err != nil {
			return stopped(ctx, err)
		}
		if claim.Verdict == events.Absent && shallow {
			claim.Verdict, claim.Evidence = events.Unknown, "shallow clone"
		}
	}
	return ""
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
	repo.Remote = remoteOf(filepath.Join(repo.CommonDir, "config"))
	ref := repo.readHead()
	if ref == unreadableRef {
		repo.Branch, repo.Head = c.cfg.askHead(ctx, repo.Root)
	}
	return repo, true
}
