package server

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/clip"
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

// postRecheck looks at claims again.
func (s *Server) postRecheck(w http.ResponseWriter, r *http.Request) error {
	var req api.RecheckRequest
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := readJSON(r, &req); err != nil {
		return err
	}
	if s.cfg.Checker == nil {
		return &api.Problem{
			Type: api.ProblemConflict, Title: "Nothing can be looked up", Status: http.StatusConflict,
			Detail: "this daemon has nothing to check claims with",
		}
	}
	if len(req.IDs) > maxRows {
		return invalid("/ids", "names %d rows, where at most %d may be", len(req.IDs), maxRows)
	}
	if err := s.caughtUp(r.Context()); err != nil {
		return err
	}
	c := &recheck{s: s, req: req, suspects: map[events.SessionID][]suspect{}, out: api.Rechecked{DryRun: req.DryRun, Changed: []api.ChangedClaim{}}}
	if err := c.choose(r.Context()); err != nil {
		return err
	}
	return s.work(w, r, func(ctx context.Context, tell func(done, total uint64)) (any, error) {
		err := c.run(ctx, tell)
		return c.out, err
	})
}

// recheck is one later look at claims.
type recheck struct {
	s        *Server
	req      api.RecheckRequest
	suspects map[events.SessionID][]suspect
	order    []events.SessionID // of those
	total    int                // claims
	out      api.Rechecked
}

// suspect is a claim that is to be looked at again.
type suspect struct {
	row     events.ID
	kind    rows.Kind
	title   string
	verdict rows.Verdict
}

// choose collects the claims. It keeps no more of a row than must be told of it.
func (c *recheck) choose(ctx context.Context) error {
	switch {
	case len(c.req.IDs) > 0:
		return c.chooseIDs(ctx)
	case c.req.Session != "":
		id, err := c.s.sessionID(ctx, c.req.Session)
		if err != nil {
			return err
		}
		rows, err := c.s.cfg.Views.RowsOf(ctx, id, rows.Observation, rows.Summary)
		for _, row := range rows {
			c.add(row)
		}
		return err
	}
	_, err := c.s.cfg.Views.Recent(ctx, rows.RecentFilter{
		Kinds: []rows.Kind{rows.Observation, rows.Summary}, Since: c.req.Since,
		Match: func(row api.Row) bool { c.add(row); return false },
	})
	return err
}

func (c *recheck) chooseIDs(ctx context.Context) error {
	only := events.SessionID{}
	if c.req.Session != "" {
		id, err := c.s.sessionID(ctx, c.req.Session)
		if err != nil {
			return err
		}
		only = id
	}
	seen := map[events.ID]bool{}
	for _, text := range c.req.IDs {
		id, err := c.s.cfg.Recall.Resolve(ctx, text)
		if err != nil {
			return err
		}
		row, err := c.s.cfg.Views.Row(ctx, id)
		if err != nil {
			return err
		}
		if !seen[id] && (only.IsZero() || row.Session == only) {
			c.add(row)
		}
		seen[id] = true
	}
	return nil
}

// add enters the claims of a row that are chosen.
func (c *recheck) add(row api.Row) {
	if row.Session.IsZero() || row.At.Before(c.req.Since) {
		return
	}
	chosen := 0
	for _, v := range row.Verdicts() {
		if v.Claim.Kind != "commit" || c.req.Absent && v.Now != events.Absent {
			continue
		}
		if _, ok := c.suspects[row.Session]; !ok {
			c.order = append(c.order, row.Session)
		}
		c.suspects[row.Session] = append(c.suspects[row.Session], suspect{row: row.ID, kind: row.Kind, title: rowTitle(row), verdict: v})
		chosen++
	}
	c.total += chosen
	if chosen > 0 {
		c.out.Rows++
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

// run looks at the claims of one session after the other, each in its session's repository. The views know what was found
// when it returns.
func (c *recheck) run(ctx context.Context, tell func(done, total uint64)) error {
	tell(0, uint64(c.total))
	for _, id := range c.order {
		dir, err := c.s.repositoryOf(ctx, id)
		if err != nil {
			return err
		}
		all := c.suspects[id]
		for len(all) > 0 && ctx.Err() == nil {
			part := all[:min(len(all), recheckBatch)]
			all = all[len(part):]
			if err := c.look(ctx, id, dir, part); err != nil {
				return err
			}
			tell(uint64(c.out.Claims), uint64(c.total))
		}
	}
	return c.s.cfg.Views.Wait(ctx, c.out.Position)
}

// repositoryOf is the folder in which a session's commits are looked up: where it worked, or where that is gone, as a
// worktree is after its work, what identifies its project. Empty: none is left, and a folder above it is another's.
func (s *Server) repositoryOf(ctx context.Context, id events.SessionID) (string, error) {
	one, err := s.cfg.Views.Session(ctx, id)
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

// look asks for the commits that a few claims name, and records what is known of them now and was not before.
func (c *recheck) look(ctx context.Context, id events.SessionID, dir string, part []suspect) error {
	found := c.s.cfg.Checker.Check(ctx, dir, hashesOf(part))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	cmd := session.Recheck{ID: c.s.cfg.NewID(), At: c.s.cfg.Now()}
	for _, sus := range part {
		i := slices.IndexFunc(found, func(f events.Claim) bool { return f.Value == sus.verdict.Claim.Value })
		if i < 0 {
			continue
		}
		now := found[i]
		c.count(now.Verdict)
		if now.Verdict != events.Unknown && now.Verdict != sus.verdict.Now {
			c.changed(id, sus, now)
			cmd.Checked = append(cmd.Checked, events.ClaimChecked{Subject: sus.row, Claim: now})
		}
	}
	if len(cmd.Checked) == 0 || c.req.DryRun {
		return nil
	}
	receipt, err := actors.DoWhenRoom(ctx, c.s.cfg.System, id, cmd)
	if _, known := problemFor(err); err != nil && known && !transient.Is(err) {
		c.out.Refused = append(c.out.Refused, api.RefusedSession{Session: id, Detail: reasonOf(err)})
		return nil
	}
	c.out.Position = max(c.out.Position, receipt.Position)
	return err
}

// hashesOf lists the commits that claims name, each once.
func hashesOf(part []suspect) []string {
	var hashes []string
	for _, sus := range part {
		if h := sus.verdict.Claim.Value; !slices.Contains(hashes, h) {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

func (c *recheck) count(v events.Verdict) {
	c.out.Claims++
	switch v {
	case events.Verified:
		c.out.Verified++
	case events.Absent:
		c.out.Absent++
	default:
		c.out.Unknown++
	}
}

func (c *recheck) changed(id events.SessionID, sus suspect, now events.Claim) {
	if len(c.out.Changed) >= maxChanged {
		c.out.More++
		return
	}
	c.out.Changed = append(c.out.Changed, api.ChangedClaim{
		ID: sus.row, Kind: sus.kind, Title: sus.title, Session: id, Claim: now.Value, Was: sus.verdict.Now, Now: now.Verdict,
		Evidence: now.Evidence, Gone: now.Verdict == events.Absent && sus.verdict.Verified,
	})
}
