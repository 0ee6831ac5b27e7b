package server

import (
	"context"
	"errors"
	"slices"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/projections/engine"
	"github.com/cmemd/cmemd/projections/vectors"
)

// viewRoutes answers about the views, and makes them anew.
type viewRoutes struct{ *sources }

func (s *viewRoutes) routes(to *dispatcher) []endpoint {
	return []endpoint{
		bind(to, api.ProjectionsRoute, s.getProjections),
		bind(to, api.ProjectionRoute, s.getProjection),
		bindWork(to, api.RebuildRoute, s.postRebuild),
	}
}

func (s *viewRoutes) getProjections(ctx context.Context, _ api.NoQuery) ([]api.View, error) {
	views, err := s.Views.List(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.indexView(ctx)
	if views = append(views, own); err != nil || s.Vectors == nil {
		return views, err
	}
	own, err = s.vectorsView(ctx)
	return append(views, own), err
}

// vectorsName is what the vectors are called among the views.
const vectorsName = "vectors"

// vectorsView describes the vectors as if they were a view. They are read up to a position before all of it is filled.
func (s *viewRoutes) vectorsView(ctx context.Context) (api.View, error) {
	last, err := s.Log.Last(ctx)
	if err != nil {
		return api.View{}, err
	}
	st := s.Vectors.Stats()
	return api.View{
		Name: vectorsName, Version: vectors.Version, Rows: st.Filled, Bytes: st.Bytes, Checkpoint: st.Position,
		Lag: uint64(max(last, st.Position) - st.Position), Model: st.Model, Missing: st.Total - st.Filled - st.Refused, Refused: st.Refused,
	}, nil
}

// indexView describes the search index as if it were a view.
func (s *viewRoutes) indexView(ctx context.Context) (api.View, error) {
	st, err := s.Index.Stats()
	if err != nil {
		return api.View{}, err
	}
	last, err := s.Log.Last(ctx)
	if err != nil {
		return api.View{}, err
	}
	return api.View{
		Name: indexName, Version: st.Version, Rows: int(st.Documents), Bytes: st.Bytes, Checkpoint: st.Position,
		Lag: uint64(max(last, st.Position) - st.Position),
	}, nil
}

func (s *viewRoutes) getProjection(ctx context.Context, q api.InspectQuery) (found api.Inspection, err error) {
	found.Entries = []engine.Entry{}
	switch {
	case q.Name == indexName:
		found.Info, err = s.indexView(ctx)
		return found, err
	case q.Name == vectorsName && s.Vectors != nil:
		found.Info, err = s.vectorsView(ctx)
		return found, err
	}
	if found, err = s.Views.Inspect(ctx, q.Name, q.Key, q.Limit); err != nil {
		return found, err
	}
	found.Entries = list(found.Entries)
	return found, s.completeSessions(ctx, found.Entries)
}

// completeSessions fills in what other views know of the sessions among entries: they are not shown as if they knew that
// there is nothing.
func (s *viewRoutes) completeSessions(ctx context.Context, entries []engine.Entry) error {
	for i, e := range entries {
		stored, ok := e.Value.(api.Session)
		if !ok {
			continue
		}
		whole, err := s.Views.Session(ctx, stored.ID)
		if errors.Is(err, engine.ErrNotFound) {
			continue // the view was made anew since
		}
		if err != nil {
			return err
		}
		entries[i].Value = whole
	}
	return nil
}

// toRebuild is what is made anew: views, and what is kept beside them.
type toRebuild struct {
	views          []string
	index, vectors bool
}

// chosen is what names stand for; none: all but the vectors, which cost whoever makes them. The error is for a name of no view.
func (s *viewRoutes) chosen(names []string) (c toRebuild, err error) {
	known := s.Views.Names()
	if len(names) == 0 {
		return toRebuild{views: known, index: true}, nil
	}
	for _, name := range names {
		switch {
		case name == indexName:
			c.index = true
		case name == vectorsName && s.Vectors != nil:
			c.vectors = true
		case name == vectorsName:
			return c, notFound("there are no vectors: embeddings_url is not set")
		case !slices.Contains(known, name):
			return c, notFound("there is no such view")
		default:
			c.views = append(c.views, name)
		}
	}
	return c, nil
}

// postRebuild makes views anew while the old ones answer.
func (s *viewRoutes) postRebuild(_ context.Context, q api.RebuildRequest) (task[api.Rebuilt], error) {
	c, err := s.chosen(q.Names)
	return func(ctx context.Context, progress func(done, total uint64)) (api.Rebuilt, error) {
		return s.rebuild(ctx, c, progress)
	}, err
}

// rebuild makes the views anew, then the index, then the vectors, as one piece of work.
func (s *viewRoutes) rebuild(ctx context.Context, c toRebuild, progress func(done, total uint64)) (api.Rebuilt, error) {
	last, err := s.Log.Last(ctx)
	if err != nil {
		return api.Rebuilt{}, err
	}
	var steps stepped
	steps.progress = progress
	names := slices.Clone(c.views)
	if len(c.views) > 0 {
		steps.add(uint64(len(c.views))*uint64(last), func(progress func(done, total uint64)) error {
			return s.Views.Rebuild(ctx, c.views, progress)
		})
	}
	if c.index {
		names = append(names, indexName)
		steps.add(uint64(last), func(progress func(done, total uint64)) error {
			return s.Index.Rebuild(ctx, func(done, total events.Position) { progress(uint64(done), uint64(total)) })
		})
	}
	if c.vectors {
		names = append(names, vectorsName)
		steps.add(uint64(last), func(progress func(done, total uint64)) error {
			return s.Vectors.Rebuild(ctx, func(done, total int) { progress(uint64(done), uint64(total)) })
		})
	}
	if err := steps.run(); err != nil {
		return api.Rebuilt{}, err
	}
	return api.Rebuilt{Views: list(names), Position: s.Recall.Position()}, nil
}

// stepped is work in steps, whose progress is that of one.
type stepped struct {
	progress func(done, total uint64)
	steps    []step
}

type step struct {
	total uint64 // what there is to do, about
	do    func(progress func(done, total uint64)) error
}

func (w *stepped) add(total uint64, do func(progress func(done, total uint64)) error) {
	w.steps = append(w.steps, step{total, do})
}

func (w *stepped) run() error {
	before, after := uint64(0), uint64(0)
	for _, s := range w.steps {
		after += s.total
	}
	for _, s := range w.steps {
		after -= s.total
		all := s.total
		err := s.do(func(done, total uint64) {
			all = total
			w.progress(before+done, before+total+after)
		})
		if err != nil {
			return err
		}
		before += all
	}
	w.progress(before, before)
	return nil
}
