package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// promptRows is how many rows the prompt begins with.
const promptRows = 15

func (s *Server) addPrompts() {
	s.sdk.AddPrompt(&mcp.Prompt{
		Name: "recall", Title: "Recall earlier work", Description: "What memory knows of a topic, and how to go on from there",
		Arguments: []*mcp.PromptArgument{{Name: "topic", Description: "what to recall: words, a file, an error", Required: true}},
	}, s.recallPrompt)
}

// recallPrompt asks the model to recall a topic, beginning with what a search for it finds now.
func (s *Server) recallPrompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	topic := oneLine(req.Params.Arguments["topic"], maxArgument)
	if topic == "" {
		return nil, fmt.Errorf("the prompt needs a topic: words, a file, an error")
	}
	here, ctx := s.projectScope(ctx, req.Session, req.ClientCapabilities())
	c := call{s, &mcp.CallToolRequest{Session: req.Session, Params: &mcp.CallToolParamsRaw{}}, here}
	in := searchArgs{Query: topic, Limit: promptRows}
	found, err := c.search(ctx, in)
	if err != nil {
		found = failure(err)
	}
	says := []string{
		"Recall from cmemd's memory what is known about: " + topic,
		"A search for it found this:\n" + found,
		"Read the rows that matter with `get`, look around them with `timeline`, and search again with better words if this is not it. " +
			"Then say briefly what was done, what was decided and why, and what is open, with the ids it rests on. Say so if nothing is known.",
	}
	return &mcp.GetPromptResult{Description: "Recall: " + topic, Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: strings.Join(says, "\n\n")}},
	}}, nil
}
