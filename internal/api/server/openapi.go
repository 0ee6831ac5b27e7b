package server

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/cmemd/cmemd/internal/api"
)

// description describes the routes of a server.
type description struct{ *Server }

func (s *description) routes(to *dispatcher) []endpoint {
	document := sync.OnceValues(s.document)
	return []endpoint{
		bind(to, api.OpenAPIRoute, func(context.Context, api.NoQuery) (json.RawMessage, error) { return document() }),
	}
}

// document is made of what is bound, the types of queries and answers among it.
func (s *description) document() (json.RawMessage, error) {
	var ops []api.Operation
	for _, e := range s.endpoints {
		ops = append(ops, e.Operation)
	}
	return api.OpenAPI(ops)
}
