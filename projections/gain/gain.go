// Package gain joins three views into what became of memory that was injected: whether a session that was given a row worked on
// the row's files afterwards, or asked for the row whole.
//
// What bites: that a file was touched does not say that the row was the reason. So there are counts here, and no rate. What was
// injected because a file was about to be read counts only where that session went on to change the file.
package gain

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/files"
	"github.com/cmemd/cmemd/projections/injections"
	"github.com/cmemd/cmemd/projections/rows"
	"github.com/cmemd/cmemd/projections/sessions"
)

// Filter chooses what was injected by when. Zero fields do not narrow.
type Filter struct{ Since, Until time.Time }

func (f Filter) takes(at time.Time) bool {
	return !at.Before(f.Since) && (f.Until.IsZero() || at.Before(f.Until))
}

// Injected is what one session was given.
type Injected struct {
	Session    sessions.Session
	Injections int // how often it was given anything
	Characters int // of all of them
	Rows       []Row
}

// Row is a row that a session was given, once however often that was.
type Row struct {
	ID      events.ID
	At      time.Time       // when it was given first
	Files   int             // that it is about, as its evidence has them
	Touched []string        // of these, what a tool use of the session read or changed since, in order
	Asked   bool            // the session asked for the row whole since
	hook    string          // at which it was given first
	since   events.Position // of that
}

// Followed reports whether the session did anything with the row.
func (r Row) Followed() bool { return r.Asked || len(r.Touched) > 0 }

// Reader answers from the views of injections, rows and files. Its methods are safe for concurrent use.
type Reader struct {
	Views *engine.Views
	Log   eventlog.Reader // that the views follow
}

// InjectedInto returns what each of some sessions was given, in their order, without those that were given nothing. A session's
// project decides where its files are looked for. It reads all that was given to them, and the touches of every file that
// the rows are about since the first of it.
func (v Reader) InjectedInto(ctx context.Context, given []sessions.Session, f Filter) ([]Injected, error) {
	var all []Injected
	for _, s := range given {
		if s.Injections == 0 {
			continue
		}
		list, err := injections.Reader{Views: v.Views}.InjectionsBefore(ctx, s.ID, 0, s.Injections)
		if err != nil {
			return nil, err
		}
		if t := injectedOf(s, list, f); t.Injections > 0 {
			all = append(all, t)
		}
	}
	j := join{Reader: v, first: firstOf(all), paths: map[events.ID][]string{}, made: map[events.ID]rows.Row{}, touches: map[file]map[events.SessionID]latest{}}
	for _, t := range all {
		if err := j.follow(ctx, t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// injectedOf adds up what a session was given, the latest first.
func injectedOf(s sessions.Session, list []injections.Injection, f Filter) Injected {
	t, seen := Injected{Session: s}, map[events.ID]bool{}
	for _, i := range slices.Backward(list) {
		if !f.takes(i.At) {
			continue
		}
		t.Injections, t.Characters = t.Injections+1, t.Characters+i.Characters
		for _, id := range i.IDs {
			if !seen[id] {
				t.Rows = append(t.Rows, Row{ID: id, At: i.At, hook: i.Hook, since: i.Position})
			}
			seen[id] = true
		}
	}
	return t
}

func firstOf(all []Injected) events.Position {
	first := ^events.Position(0)
	for _, t := range all {
		for _, r := range t.Rows {
			first = min(first, r.since)
		}
	}
	return first
}

// file is a path in a project.
type file struct{ root, path string }

// latest is where a session read or changed a file last, and where it changed it last.
type latest struct{ touched, changed events.Position }

// join keeps what several sessions ask of the views.
type join struct {
	Reader
	first   events.Position // that anything was given at
	paths   map[events.ID][]string
	made    map[events.ID]rows.Row
	touches map[file]map[events.SessionID]latest
}

// maxAsked is how many calls of a session that ask for rows are looked at, the latest.
const maxAsked = 1000

// follow fills in which files of its rows a session touched, and which rows it asked for.
func (j *join) follow(ctx context.Context, t Injected) error {
	if err := j.learn(ctx, t.Rows); err != nil {
		return err
	}
	asked, err := injections.Reader{Views: j.Views}.AskedBy(ctx, t.Session.ID, maxAsked)
	if err != nil {
		return err
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		handle := calledOn(t.Session.Log, j.made[r.ID])
		r.Asked = slices.ContainsFunc(asked, func(a injections.Asked) bool { return a.Position > r.since && a.Names(r.ID, handle) })
		paths := j.paths[r.ID]
		r.Files = len(paths)
		for _, path := range paths {
			by, err := j.since(ctx, file{t.Session.ProjectRoot, path})
			if err != nil {
				return err
			}
			last := by[t.Session.ID]
			if at := last.touched; at > r.since && r.hook != "file" || last.changed > r.since {
				r.Touched = append(r.Touched, path)
			}
		}
	}
	return nil
}

// calledOn is the handle of a row on the machine of a log: its own rows have no machine's name there.
func calledOn(log events.LogID, row rows.Row) string {
	h := row.Handle()
	if log == row.Place.Log {
		h.Machine = ""
	}
	return h.String()
}

// learn finds out which files rows are about.
func (j *join) learn(ctx context.Context, injected []Row) error {
	var ids []events.ID
	for _, r := range injected {
		if _, known := j.paths[r.ID]; !known {
			ids = append(ids, r.ID)
		}
	}
	found, err := rows.Reader{Views: j.Views, Log: j.Log}.Rows(ctx, ids...)
	for i, r := range found {
		if err == nil {
			j.made[ids[i]] = r
			j.paths[ids[i]], err = j.about(ctx, r)
		}
	}
	return err
}

// about are the files that a row is about: of an observation those that it names by its evidence, of a summary those that the
// observations of its session before it say were changed.
func (j *join) about(ctx context.Context, r rows.Row) (paths []string, err error) {
	evidence := []rows.Row{r}
	switch {
	case r.Forgotten || r.Kind != rows.Observation && r.Kind != rows.Summary:
		return nil, nil
	case r.Kind == rows.Summary:
		if evidence, err = (rows.Reader{Views: j.Views, Log: j.Log}).RowsOf(ctx, r.Session, rows.Observation); err != nil {
			return nil, err
		}
	}
	for _, o := range evidence {
		if o.Position > r.Position {
			break
		}
		some, err := files.Reader{Views: j.Views}.PathsAt(ctx, o.Position, r.Kind == rows.Summary)
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// since returns where each session touched a file last by a tool use that did not fail.
func (j *join) since(ctx context.Context, f file) (map[events.SessionID]latest, error) {
	if by, ok := j.touches[f]; ok {
		return by, nil
	}
	touches, err := files.Reader{Views: j.Views}.TouchesSince(ctx, f.root, f.path, j.first)
	if err != nil {
		return nil, err
	}
	by := map[events.SessionID]latest{}
	for _, t := range touches { // the newest first
		if t.Tool == "" || t.Failed {
			continue
		}
		last := by[t.Session]
		last.touched = cmp.Or(last.touched, t.Position)
		if t.Modified {
			last.changed = cmp.Or(last.changed, t.Position)
		}
		by[t.Session] = last
	}
	j.touches[f] = by
	return by, nil
}
