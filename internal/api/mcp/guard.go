package mcp

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cmemd/cmemd/internal/panics"
)

// guarded answers for panics: they end one request, and never the daemon. What was panicked with may hold words of memory,
// so only its kind is on record.
func (s *Server) guarded(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			_ = panics.Caught(s.cfg.Logger, "mcp "+method, p) // the client learns nothing of it
			res, err = nil, errors.New("something went wrong inside; `cmemd logs` says more")
		}()
		withoutNull(req)
		res, err = next(ctx, method, req)
		return advised(req, res, err)
	}
}

// withoutNull makes arguments that are null none at all: the library panics over them.
func withoutNull(req mcp.Request) {
	if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && string(bytes.TrimSpace(p.Arguments)) == "null" {
		p.Arguments = nil
	}
}

// advised puts a next step behind what the library says of arguments, and makes a result of a question that could not be
// put to the user.
func advised(req mcp.Request, res mcp.Result, err error) (mcp.Result, error) {
	call, ok := req.GetParams().(*mcp.CallToolParamsRaw)
	if !ok {
		return res, err
	}
	_, protocol := err.(*jsonrpc.Error) // of the library itself; one from the client is wrapped
	if err != nil && call.Name == forgetTool().name && !protocol {
		out := textResult("The user could not be asked, and nothing was erased: " + oneLine(err.Error(), maxFailure) +
			"\nNext: tell the user; `cmemd forget` in a shell does it too.")
		out.IsError = true
		return out, nil
	}
	if out, ok := res.(*mcp.CallToolResult); ok && err == nil && out.IsError {
		shorten(out)
	}
	return res, err
}

// shorten bounds what the library says of arguments that its schema refuses: it quotes them whole.
func shorten(res *mcp.CallToolResult) {
	for _, c := range res.Content {
		t, ok := c.(*mcp.TextContent)
		if !ok {
			continue
		}
		if rest, refused := strings.CutPrefix(t.Text, `validating "arguments": `); refused {
			t.Text = "The arguments are not valid: " + oneLine(rest, maxFailure) + "\nNext: correct them and call again."
		}
	}
}
