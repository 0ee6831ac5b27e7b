package server

import (
	"net/http"

	"github.com/cmemd/cmemd/internal/api"
)

// HandlerMCP makes the face that answers at /mcp by asking the server itself.
type HandlerMCP func(memory api.Invoker) http.Handler

// pathMCP is where the daemon speaks the Model Context Protocol.
const pathMCP = "/mcp"

// serveMCP hands a request to the face that Config.MCP made. Its answers may be streams.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) error {
	s.mcp.ServeHTTP(&steady{ResponseWriter: w, out: newPatient(w)}, r)
	return nil
}

// steady is an answer whose every write has a time limit of its own: who does not read for so long is dropped.
type steady struct {
	http.ResponseWriter
	out *patient
}

func (s *steady) Write(p []byte) (int, error) { return s.out.Write(p) }

// FlushError is what http.ResponseController looks for.
func (s *steady) FlushError() error { return s.out.flush() }

// Unwrap is for http.ResponseController.
func (s *steady) Unwrap() http.ResponseWriter { return s.ResponseWriter }
