package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerWait is how long a tool may work that asks nobody back. The daemon gives up earlier.
const answerWait = 45 * time.Second

// call is one call of a tool.
type call struct {
	*Server
	req  *mcp.CallToolRequest
	here Place // the project that the caller works in
}

// spec is a tool as clients see it.
type spec struct {
	name, title, description string
	hints                    mcp.ToolAnnotations
}

// reads are the hints of what changes nothing.
func reads() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool)}
}

// adds are the hints of what only adds; what it supersedes stays and can be taken back.
func adds() mcp.ToolAnnotations {
	return mcp.ToolAnnotations{DestructiveHint: new(bool), OpenWorldHint: new(bool)}
}

// erases are the hints of what cannot be taken back.
func erases() mcp.ToolAnnotations {
	yes := true
	return mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: new(bool)}
}

// add makes a tool of run, which returns its answer.
func add[In any](s *Server, t spec, run func(c call, ctx context.Context, in In) (string, error)) {
	addAsking(s, t, func(c call, ctx context.Context, in In) (*mcp.CallToolResult, error) {
		ctx, cancel := context.WithTimeout(ctx, answerWait)
		defer cancel()
		answer, err := run(c, ctx, in)
		return textResult(answer), err
	})
}

// addAsking is add for a tool that asks the user back.
func addAsking[In any](s *Server, t spec, run func(c call, ctx context.Context, in In) (*mcp.CallToolResult, error)) {
	t.hints.Title = t.title
	tool := &mcp.Tool{Name: t.name, Title: t.title, Description: t.description, InputSchema: schemaOf[In](), Annotations: &t.hints}
	mcp.AddTool(s.sdk, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		here, ctx := s.projectScope(ctx, req.Session, req.ClientCapabilities())
		res, err := run(call{s, req, here}, ctx, in)
		if err != nil {
			res = textResult(failure(err))
			res.IsError = true
		}
		return res, nil, nil
	})
}

func textResult(answer string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer}}}
}

func (s *Server) addTools() {
	add(s, searchTool(), call.search)
	add(s, timelineTool(), call.timeline)
	add(s, getTool(), call.get)
	add(s, whyTool(), call.why)
	add(s, saveTool(), call.save)
	addAsking(s, forgetTool(), call.forget)
	add(s, statusTool(), call.status)
}
