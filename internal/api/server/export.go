package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/stream"
	"github.com/cmemd/cmemd/projections/rows"
)

// exports writes rows out.
type exports struct{ *sources }

func (s *exports) routes(to *dispatcher) []endpoint {
	return []endpoint{bindStream(to, api.ExportRoute, s.getExportRows)}
}

// exportBatch is how many rows are looked up at once.
const exportBatch = 256

// getExportRows writes rows as lines of JSON, in the order of the log: the same rows, whenever they are asked for. Those that
// are shown nowhere (superseded, folded, forgotten) are not among them.
func (s *exports) getExportRows(w http.ResponseWriter, r *http.Request, q api.ExportQuery) error {
	ctx := r.Context()
	if err := s.caughtUp(ctx); err != nil {
		return err
	}
	belongs, err := s.belongs(ctx, q.Project)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := json.NewEncoder(stream.NewWriter(w))
	return s.eachRow(ctx, func(row api.Row) error {
		if !exported(q, row) || !belongs(row.ProjectRoot, row.Project) {
			return nil
		}
		return out.Encode(row)
	})
}

func exported(q api.ExportQuery, row api.Row) bool {
	return (len(q.Kinds) == 0 || slices.Contains(q.Kinds, string(row.Kind))) &&
		!row.At.Before(q.Since) && (q.Until.IsZero() || !row.At.After(q.Until))
}

// eachRow calls do with each row that is shown, in the order of the log, as far as that goes now. What a damaged record made is left out.
func (s *exports) eachRow(ctx context.Context, do func(api.Row) error) error {
	last, err := s.Log.Last(ctx)
	if err != nil {
		return err
	}
	var ids []events.ID
	flush := func() error {
		rows, err := s.Views.Rows(ctx, ids...)
		ids = ids[:0]
		for _, row := range rows {
			if err == nil && row.Listed() {
				err = do(row)
			}
		}
		return err
	}
	for r, err := range eventlog.Readable(s.Log, nil).All(ctx, 1) {
		if err != nil {
			return err
		}
		if r.Position > last {
			break
		}
		id, err := rowIn(r)
		if err != nil {
			return err
		}
		if id == (events.ID{}) {
			continue
		}
		if ids = append(ids, id); len(ids) == exportBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// rowIn is the row that r made; zero: none, one whose words are gone, or a prompt.
func rowIn(r events.Record) (events.ID, error) {
	if r.Kind == events.KindPromptSubmitted {
		return events.ID{}, nil
	}
	id, err := rows.MadeBy(r)
	switch {
	case errors.Is(err, events.ErrErased):
		return events.ID{}, nil
	case err != nil:
		return events.ID{}, fmt.Errorf("api: export: %w", err)
	}
	return id, nil
}
