package turn

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// maxTrees is how many working trees one turn's commands are followed to.
const maxTrees = 3

// shellChanges returns the files that the batch's shell commands changed, as far as their words do not say.
func (t *Pipeline) shellChanges(ctx context.Context, p observer.Prompt) (files []string) {
	if t.cfg.Tracker == nil {
		return nil
	}
	dirs, ran := commandsOf(p)
	for _, dir := range dirs[:min(len(dirs), maxTrees)] {
		files = append(files, t.cfg.Tracker.Changes(ctx, dir, ran[dir])...)
	}
	return distinct(files)
}

// commandsOf returns when the batch's commands ran that may have changed files, by folder, in the order of the folders'
// first appearance. One whose client does not say how long it took began after the input before it.
func commandsOf(p observer.Prompt) (dirs []string, ran map[string][]evidence.RunWindow) {
	ran = map[string][]evidence.RunWindow{}
	var before time.Time
	for _, in := range p.Inputs {
		if call := in.Call(); call != nil && call.MayChangeFiles() {
			dir := cmp.Or(call.Cwd, p.Cwd)
			if ran[dir] == nil {
				dirs = append(dirs, dir)
			}
			ran[dir] = append(ran[dir], runWindow(call, in.At, before))
		}
		before = in.At
	}
	return dirs, ran
}

// unknownDuration is how long a command is taken to have run of which nothing tells.
const unknownDuration = 2 * time.Minute

// runWindow is when a command ran that was reported at at, after another input at before.
func runWindow(c *evidence.Call, at, before time.Time) evidence.RunWindow {
	r := evidence.RunWindow{Start: before, End: at}
	switch {
	case c.DurationMS > 0:
		r.Start = at.Add(-time.Duration(c.DurationMS) * time.Millisecond)
	case before.IsZero():
		r.Start = at.Add(-unknownDuration)
	}
	if c.Shape().Background {
		r.End = time.Time{}
	}
	return r
}

// filesOf returns what the batch's tool uses read and modified, in the order of their first appearance.
func filesOf(p observer.Prompt) (read, modified []string) {
	for _, in := range p.Inputs {
		if c := in.Call(); c != nil {
			r, m := c.Files()
			read, modified = append(read, r...), append(modified, m...)
		}
	}
	return distinct(read), distinct(modified)
}

// distinct returns each string of the lists once, in the order of their first appearance; nil for none. It keeps no
// slice that it was given.
func distinct(lists ...[]string) (out []string) {
	seen := map[string]bool{}
	for _, s := range slices.Concat(lists...) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// unverified returns the files that an observation lists and no tool use of its batch touched. A relative name counts as
// touched if a touched file ends in it.
func unverified(cwd string, o observer.Observation, read, modified []string) []string {
	var out []string
	for _, f := range distinct(o.FilesRead, o.FilesModified) {
		touched := func(have string) bool {
			return have == f || strings.HasSuffix(have, "/"+strings.TrimPrefix(f, "./")) || evidence.Rel(cwd, have) == f
		}
		if !slices.ContainsFunc(read, touched) && !slices.ContainsFunc(modified, touched) {
			out = append(out, f)
		}
	}
	return out
}

// unseen reports whether an observation's title or narrative names files, none of which the session touched. A file
// counts as touched if one of that base name is among the files that were read or modified, or among those of the
// session's last observations, or stands anywhere in the batch's calls and their outputs (shells read files too), in
// the user's request or in the agent's summary of what it forgot. What the agent merely says at its end is no touch.
// Where a part of that is missing, nothing is held against the observation.
func unseen(p observer.Prompt, o observer.Observation, touched []string) bool {
	names := evidence.Named(o.Title + "\n" + o.Narrative)
	if len(names) == 0 || !whole(p) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		base := path.Base(name)
		same := func(f string) bool { return path.Base(strings.ReplaceAll(f, `\`, "/")) == base }
		return slices.ContainsFunc(touched, same) || slices.ContainsFunc(p.Touched, same) || mentioned(p, base, true)
	})
}

// invented reports whether an observation's own lists hold a file that nobody touched: one that is none of the files that were read or
// modified, whose base name stands in no call, request or earlier observation of the session, and which no output names as it is
// listed. Where a part of that is missing, nothing is held against the observation.
func invented(p observer.Prompt, o observer.Observation, touched []string) bool {
	if !whole(p) {
		return false
	}
	return slices.ContainsFunc(unverified(p.Cwd, o, touched, p.Touched), func(f string) bool {
		listed := strings.TrimPrefix(strings.ReplaceAll(f, `\`, "/"), "./")
		return !mentioned(p, path.Base(listed), false) && !mentioned(p, listed, true)
	})
}

// whole reports whether all of a batch's words are at hand: no payload was erased, and no output cut in which a name
// may have stood. What was cut from a file that was read or written does not matter: the file's own name is known.
func whole(p observer.Prompt) bool {
	return !slices.ContainsFunc(p.Inputs, func(in observer.Input) bool {
		c := in.Call()
		if c == nil {
			return in.Event == nil
		}
		cut := c.InputSize > len(c.Input) || c.OutputSize > len(c.Output)
		return cut && c.Kind() != evidence.Read && c.Kind() != evidence.Edit
	})
}

// mentioned reports whether a file of that name stands in what the session did, was asked, or is known to have done; in what tools
// printed, too, where outputs says so.
func mentioned(p observer.Prompt, base string, outputs bool) bool {
	names := func(text string) bool { return evidence.Names(text, base) }
	if names(p.Request) || slices.ContainsFunc(p.Requests, names) {
		return true
	}
	for _, o := range p.Observed {
		if !o.Unseen && (names(o.Title+"\n"+o.Narrative) || slices.ContainsFunc(o.Facts, names)) {
			return true
		}
	}
	return slices.ContainsFunc(p.Inputs, func(in observer.Input) bool {
		switch e := in.Event.(type) {
		case events.ToolUsed:
			return names(e.Input) || outputs && names(e.Output)
		case events.ContextCompacted:
			return names(e.Summary)
		}
		return false
	})
}

// touchedBy returns the files that an earlier observation of the session is borne out to have been about.
func touchedBy(o events.ObservationParsed) []string {
	files := slices.Concat(o.FilesRead, o.FilesModified)
	if !o.Unseen {
		files = append(files, evidence.Named(o.Title+"\n"+o.Narrative)...)
	}
	return files
}

// unfounded reports whether an observation was found to claim what is not so.
func unfounded(o events.ObservationParsed) bool {
	return o.Unseen || o.Unsupported || slices.ContainsFunc(o.Claims, func(c events.Claim) bool { return c.Verdict == events.Absent })
}

// checkClaims looks up every commit that an output names, once, in the session's repository.
func (t *Pipeline) checkClaims(ctx context.Context, cwd, text string) (claims []events.Claim) {
	hashes := evidence.Claims(text)
	if len(hashes) > 0 && t.cfg.Checker != nil {
		return t.cfg.Checker.Check(ctx, cwd, hashes)
	}
	for _, h := range hashes {
		claims = append(claims, events.Claim{Kind: "commit", Value: h, Verdict: events.Unknown, Evidence: "nothing to check it with"})
	}
	return claims
}

// pick returns the claims that text itself makes.
func pick(claims []events.Claim, text string) []events.Claim {
	var out []events.Claim
	for _, h := range evidence.Claims(text) {
		if i := slices.IndexFunc(claims, func(c events.Claim) bool { return c.Value == h }); i >= 0 {
			out = append(out, claims[i])
		}
	}
	return out
}
