package curation

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/refusal"
	"github.com/cmemd/cmemd/internal/transient"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/rows"
)

const (
	// recheckBatch is how many commits are asked for at once: the checker's time limit is for all of them.
	recheckBatch = 50

	// maxChanged is how many changed claims an answer names.
	maxChanged = 1000
)

// Recheck is one later look at claims.
type Recheck struct {
	c        *Curator
	req      api.RecheckRequest
	session  events.SessionID // the only one, unless it is zero
	suspects map[events.SessionID][]suspect
	order    []events.SessionID // of those
	total    int                // claims
	out      api.Rechecked
}

// Recheck chooses the claims that req names, of one session where that is not zero. Its Run looks at them.
func (c *Curator) Recheck(ctx context.Context, req api.RecheckRequest, session events.SessionID) (*Recheck, error) {
	r := &Recheck{
		c: c, req: req, session: session, suspects: map[events.SessionID][]suspect{},
		out: api.Rechecked{DryRun: req.DryRun, Changed: []api.ChangedClaim{}},
	}
	return r, r.choose(ctx)
}

// suspect is a claim that is to be checked again, as an answer names it if it changes.
type suspect struct {
	api.ChangedClaim
	verified bool // then, or by any check since
}

// choose collects the claims. It keeps no more of a row than an answer reports.
func (r *Recheck) choose(ctx context.Context) error {
	switch {
	case len(r.req.IDs) > 0:
		return r.chooseIDs(ctx)
	case !r.session.IsZero():
		rows, err := r.c.cfg.Views.RowsOf(ctx, r.session, rows.Observation, rows.Summary)
		for _, row := range rows {
			r.add(row)
		}
		return err
	}
	_, err := r.c.cfg.Views.Recent(ctx, rows.RecentFilter{
		Kinds: []rows.Kind{rows.Observation, rows.Summary}, Since: r.req.Since,
		Match: func(row api.Row) bool { r.add(row); return false },
	})
	return err
}

func (r *Recheck) chooseIDs(ctx context.Context) error {
	seen := map[events.ID]bool{}
	for _, text := range r.req.IDs {
		id, err := r.c.cfg.Resolve(ctx, text)
		if err != nil {
			return err
		}
		row, err := r.c.cfg.Views.Row(ctx, id)
		if err != nil {
			return err
		}
		if !seen[id] && (r.session.IsZero() || row.Session == r.session) {
			r.add(row)
		}
		seen[id] = true
	}
	return nil
}

// add enters the claims of a row that are chosen. Those of another machine's session are held against that machine's repositories, there.
func (r *Recheck) add(row api.Row) {
	if row.Session.IsZero() || row.Machine != "" || row.At.Before(r.req.Since) {
		return
	}
	before := r.total
	for _, v := range row.Verdicts() {
		if v.Claim.Kind != "commit" || r.req.Absent && v.Now != events.Absent {
			continue
		}
		if _, ok := r.suspects[row.Session]; !ok {
			r.order = append(r.order, row.Session)
		}
		claim := api.ChangedClaim{
			ID: row.ID, Handle: row.Handle(), Kind: row.Kind, Title: rowTitle(row), Session: row.Session, Claim: v.Claim.Value, Was: v.Now,
		}
		r.suspects[row.Session] = append(r.suspects[row.Session], suspect{claim, v.Verified})
		r.total++
	}
	if r.total > before {
		r.out.Rows++
	}
}

// maxChangedTitle is how much of a row's title an answer repeats, in bytes.
const maxChangedTitle = 200

func rowTitle(row api.Row) string {
	for _, text := range []string{row.Title, row.Request, row.Narrative, row.Completed, row.Learned} {
		if text != "" {
			return clip.Head(text, maxChangedTitle)
		}
	}
	return ""
}

// Run looks at the claims of one session after the other, each in its session's repository. The views know what was found
// when it returns.
func (r *Recheck) Run(ctx context.Context, progress func(done, total uint64)) (api.Rechecked, error) {
	progress(0, uint64(r.total))
	for _, id := range r.order {
		dir, err := r.c.repositoryOf(ctx, id)
		if err != nil {
			return r.out, err
		}
		for part := range slices.Chunk(r.suspects[id], recheckBatch) {
			if err := r.check(ctx, id, dir, part); err != nil {
				return r.out, err
			}
			progress(uint64(r.out.Claims), uint64(r.total))
		}
	}
	return r.out, r.c.cfg.Views.Wait(ctx, r.out.Position)
}

// repositoryOf is the folder in which a session's commits are looked up: where it worked, or where that is gone, as a
// worktree is after its work, what identifies its project. Empty: none is left, and a folder above it is another's.
func (c *Curator) repositoryOf(ctx context.Context, id events.SessionID) (string, error) {
	one, err := c.cfg.Views.Session(ctx, id)
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return "", err
	}
	for _, dir := range []string{one.Cwd, one.GitRoot, one.ProjectRoot} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", nil
}

// check asks for the commits that a few claims name, and records what is known of them now and was not before.
func (r *Recheck) check(ctx context.Context, id events.SessionID, dir string, part []suspect) error {
	found := r.c.cfg.Checker.Check(ctx, dir, hashesOf(part))
	gone := r.c.cfg.Checker.Unreachable(ctx, dir, onceVerified(part, found))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	cmd := session.Recheck{ID: newID(), At: r.c.cfg.Now()}
	for _, sus := range part {
		i := slices.IndexFunc(found, func(f events.Claim) bool { return f.Value == sus.Claim })
		if i < 0 {
			continue
		}
		now := found[i]
		if sus.verified && now.Verdict == events.Verified && slices.Contains(gone, now.Evidence) {
			now.Verdict, now.Evidence = events.Absent, "no branch or tag leads to it any more"
		}
		r.count(now.Verdict)
		if now.Verdict != events.Unknown && now.Verdict != sus.Was {
			r.changed(sus, now)
			cmd.Checked = append(cmd.Checked, events.ClaimChecked{Subject: sus.ID, Claim: now})
		}
	}
	if len(cmd.Checked) == 0 || r.req.DryRun {
		return nil
	}
	receipt, err := actors.DoWhenRoom(ctx, r.c.cfg.Sink, id, cmd)
	if refusal.Of(err) != nil && !transient.Is(err) {
		r.out.Refused = append(r.out.Refused, api.RefusedSession{Session: id, Detail: refusal.Reason(err)})
		return nil
	}
	r.out.Position = max(r.out.Position, receipt.Position)
	return err
}

// onceVerified lists, by their full hashes, the commits that are there and were there before: of these one that no branch leads to any more
// is gone. Nobody knows whether another one ever stood on a branch.
func onceVerified(part []suspect, found []events.Claim) (commits []string) {
	for _, f := range found {
		if f.Verdict == events.Verified && slices.ContainsFunc(part, func(sus suspect) bool { return sus.Claim == f.Value && sus.verified }) {
			commits = append(commits, f.Evidence)
		}
	}
	return commits
}

// hashesOf lists the commits that claims name, each once.
func hashesOf(part []suspect) []string {
	var hashes []string
	for _, sus := range part {
		if h := sus.Claim; !slices.Contains(hashes, h) {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

func (r *Recheck) count(v events.Verdict) {
	r.out.Claims++
	switch v {
	case events.Verified:
		r.out.Verified++
	case events.Absent:
		r.out.Absent++
	default:
		r.out.Unknown++
	}
}

func (r *Recheck) changed(sus suspect, now events.Claim) {
	if len(r.out.Changed) >= maxChanged {
		r.out.More++
		return
	}
	sus.Now, sus.Evidence, sus.Gone = now.Verdict, now.Evidence, now.Verdict == events.Absent && sus.verified
	r.out.Changed = append(r.out.Changed, sus.ChangedClaim)
}
