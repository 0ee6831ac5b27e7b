package daemon

import (
	"net/http"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/mcp"
	"github.com/cmemd/cmemd/internal/api/server"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

func placeOf(dir string) mcp.Place {
	p := evidence.ProjectOf(dir)
	return mcp.Place{Name: p.Name, Root: p.Root}
}

// mcpFace makes what the daemon serves at /mcp.
func (d *daemon) mcpFace(version string) server.HandlerMCP {
	return func(memory api.Invoker) http.Handler {
		d.mcp = mcp.New(mcp.Config{Memory: memory, Version: version, Place: placeOf, Logger: d.logger, NoForms: true})
		return d.mcp
	}
}
