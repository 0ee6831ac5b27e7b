package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections"
)

func (s *Server) getProjections(w http.ResponseWriter, r *http.Request) error {
	if err := paramsOf(r).err(); err != nil {
		return err
	}
	views, err := s.cfg.Views.List(r.Context())
	if err != nil {
		return err
	}
	own, err := s.indexView(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, append(views, own))
}

// indexView describes the search index as if it were a view.
func (s *Server) indexView(ctx context.Context) (View, error) {
	st, err := s.cfg.Index.Stats()
	if err != nil {
		return View{}, err
	}
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return View{}, err
	}
	return View{
		Name: indexName, Version: st.Version, Rows: int(st.Documents), Bytes: st.Bytes, Checkpoint: st.Position,
		Lag: uint64(max(last, st.Position) - st.Position),
	}, nil
}

const (
	defaultEntries = 20
	maxEntries     = 1000
)

func (s *Server) getProjection(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "key", "limit")
	key, limit := p.text("key"), p.number("limit", defaultEntries, maxEntries)
	if err := p.err(); err != nil {
		return err
	}
	name := r.PathValue("name")
	if name == indexName {
		own, err := s.indexView(r.Context())
		if err != nil {
			return err
		}
		return writeJSON(w, Inspection{Info: own})
	}
	found, err := s.cfg.Views.Inspect(r.Context(), name, key, limit)
	if err != nil {
		return err
	}
	found.Entries = list(found.Entries)
	if err := s.completeSessions(r.Context(), found.Entries); err != nil {
		return err
	}
	return writeJSON(w, found)
}

// completeSessions fills in what other views know of the sessions among entries: they are not shown as if they knew that
// there is nothing.
func (s *Server) completeSessions(ctx context.Context, entries []projections.Entry) error {
	for i, e := range entries {
		stored, ok := e.Value.(Session)
		if !ok {
			continue
		}
		whole, err := s.cfg.Views.Session(ctx, stored.ID)
		if errors.Is(err, projections.ErrNotFound) {
			continue // the view was made anew since
		}
		if err != nil {
			return err
		}
		entries[i].Value = whole
	}
	return nil
}

// postRebuild makes views anew while the old ones answer.
func (s *Server) postRebuild(w http.ResponseWriter, r *http.Request) error {
	var req rebuildRequest
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := readJSON(r, &req); err != nil {
		return err
	}
	views, withIndex := s.cfg.Views.Names(), true
	if len(req.Names) > 0 {
		withIndex = slices.Contains(req.Names, indexName)
		views = slices.DeleteFunc(slices.Clone(req.Names), func(n string) bool { return n == indexName })
	}
	known := s.cfg.Views.Names()
	for _, name := range views {
		if !slices.Contains(known, name) {
			return notFound("there is no such view")
		}
	}
	return s.work(w, r, func(ctx context.Context, tell func(done, total uint64)) (any, error) {
		return s.rebuild(ctx, views, withIndex, tell)
	})
}

// rebuild makes the views and then the index anew, as one piece of work.
func (s *Server) rebuild(ctx context.Context, views []string, withIndex bool, tell func(done, total uint64)) (Rebuilt, error) {
	last, err := s.cfg.Log.Last(ctx)
	if err != nil {
		return Rebuilt{}, err
	}
	before, after := uint64(len(views))*uint64(last), uint64(0) // what each of the two has to do, about
	if withIndex {
		after = uint64(last)
	}
	if len(views) > 0 {
		err := s.cfg.Views.Rebuild(ctx, views, func(done, total uint64) {
			before = total
			tell(done, total+after)
		})
		if err != nil {
			return Rebuilt{}, err
		}
	}
	if withIndex {
		err := s.cfg.Index.Rebuild(ctx, func(done, total events.Position) {
			tell(before+uint64(done), before+uint64(total))
		})
		if err != nil {
			return Rebuilt{}, err
		}
		views = append(slices.Clone(views), indexName)
	}
	tell(before+after, before+after)
	return Rebuilt{Views: list(views), Position: s.cfg.Recall.Position()}, nil
}
