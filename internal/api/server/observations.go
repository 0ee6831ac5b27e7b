package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/cmemd/cmemd/internal/api"
)

// getRows returns rows by the ids of a parameter, with commas between.
func (s *Server) getRows(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r, "ids", "after")
	ids, after := idsOf(r.URL.Query().Get("ids")), p.position("after")
	if n := len(ids); n == 0 || n > maxRows {
		p.wrong("ids", "names %d rows, where 1 to %d may be, with commas between", n, maxRows)
	}
	if err := p.err(); err != nil {
		return err
	}
	if err := s.await(r.Context(), after); err != nil {
		return err
	}
	return s.writeRows(r.Context(), w, ids)
}

// postRows returns rows by the ids of a body.
func (s *Server) postRows(w http.ResponseWriter, r *http.Request) error {
	var req api.RowsRequest
	if err := readJSON(r, &req); err != nil {
		return err
	}
	if len(req.IDs) == 0 || len(req.IDs) > maxRows {
		return invalid("/ids", "names %d rows, where 1 to %d may be", len(req.IDs), maxRows)
	}
	return s.writeRows(r.Context(), w, req.IDs)
}

// writeRows answers with rows by id. Ids that name no row are listed; those that cannot be ids are the request's fault.
func (s *Server) writeRows(ctx context.Context, w http.ResponseWriter, ids []string) error {
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
			return err
		}
	}
	return writeJSON(w, out)
}

// idsOf splits what has commas between.
func idsOf(text string) (ids []string) {
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
