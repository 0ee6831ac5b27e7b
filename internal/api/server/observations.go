package server

import (
	"context"
	"net/http"

	"github.com/cmemd/cmemd/internal/api"
)

// getRows returns rows by the ids of a parameter.
func (s *Server) getRows(ctx context.Context, q api.RowsQuery) (api.Rows, error) {
	return s.rows(ctx, q.IDs)
}

// postRows returns rows by the ids of a body.
func (s *Server) postRows(ctx context.Context, q api.RowsRequest) (api.Rows, error) {
	return s.rows(ctx, q.IDs)
}

// rows are rows by id. Ids that name no row are listed; those that cannot be ids are the request's fault.
func (s *Server) rows(ctx context.Context, ids []string) (api.Rows, error) {
	out := api.Rows{Position: s.cfg.Views.Position(), Rows: []api.Row{}}
	for _, text := range ids {
		rows, err := s.cfg.Recall.Show(ctx, text)
		p, known := problemFor(err)
		switch {
		case err == nil && len(rows) == 1 && rows[0].Kind != "":
			out.Rows = append(out.Rows, rows[0])
		case err == nil, known && p.Status == http.StatusNotFound:
			out.Missing = append(out.Missing, text)
		default:
			return out, err
		}
	}
	return out, nil
}
