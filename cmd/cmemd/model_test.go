package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

// canaryKey is the key of the scripts' services. No other text of theirs holds it.
const canaryKey = "sk-canary-7f3a9c1e5b8d2460aa51c9"

const (
	modelXML = "<observation><type>bugfix</type><title>A cart keeps one lock of marmalade</title></observation>" +
		"<summary><request>mend the checkout</request><completed>one lock</completed></summary>"
	modelJSON = `{"observations":[{"type":"bugfix","title":"A cart keeps one lock of marmalade","subtitle":"","narrative":"","facts":[],` +
		`"concepts":[],"files_read":[],"files_modified":[]}],"summary":{"request":"mend the checkout","investigated":"","learned":"",` +
		`"completed":"one lock","next_steps":"","notes":""},"skip":false,"skip_reason":""}`
)

// services runs scripted services for scripts: `service NAME SAYS` starts one of them and has SERVICE name its URL, or has
// the one that runs say something else. CANARY is the key that it says back wherever it can.
func services(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var running sync.Map // *wiretest.Server by URL
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 2 {
			ts.Fatalf("usage: service NAME SAYS")
		}
		answer := serviceAnswer(ts, args[0], args[1])
		if s, ok := running.Load(ts.Getenv("SERVICE")); ok {
			s.(*wiretest.Server).Script(answer)
			return
		}
		s := wiretest.MustServe(t, answer)
		running.Store(s.URL, s)
		ts.Setenv("SERVICE", s.URL)
		ts.Setenv("CANARY", canaryKey)
	}
}

// serviceAnswer is what a service sends: xml and structured are good answers, echo is one that holds the key, limit and
// auth are refusals.
func serviceAnswer(ts *testscript.TestScript, name, says string) wiretest.Answer {
	switch says {
	case "xml":
		return goodAnswer(name, modelXML, false)
	case "structured":
		return goodAnswer(name, modelJSON, true)
	case "echo":
		return goodAnswer(name, "<observation><title>Your key is "+canaryKey+"</title></observation>", false)
	case "prose":
		return goodAnswer(name, "I have noted it all.", false)
	case "limit", "auth":
		status := map[string]int{"limit": 429, "auth": 401}[says]
		return wiretest.Answer{
			Status: status, Header: map[string]string{"Content-Type": "application/json", "Retry-After": "3600", "X-Request-Id": canaryKey},
			Body: clitest.JSON(map[string]any{"error": map[string]any{"type": "some_error", "message": "no more for " + canaryKey, "param": canaryKey}}),
		}
	}
	ts.Fatalf("nobody says %q", says)
	return wiretest.Answer{}
}

// goodAnswer is a whole answer of a service, paid with 1,234 tokens.
func goodAnswer(name, text string, structured bool) wiretest.Answer {
	header := map[string]string{"Content-Type": "application/json"}
	switch name {
	case "anthropic":
		header["Content-Type"] = "text/event-stream"
		return wiretest.Answer{Header: header, Body: anthropicStream(text, structured)}
	case "openai":
		return wiretest.Answer{Header: header, Body: clitest.JSON(map[string]any{
			"id": "c1", "object": "chat.completion", "created": 1, "model": "qwen3-local",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
			"usage":   map[string]any{"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234, "cost": 0.0125},
		})}
	}
	return wiretest.Answer{Header: header, Body: clitest.JSON(map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": text}}},
		}},
		"usageMetadata": map[string]any{"promptTokenCount": 1200, "candidatesTokenCount": 34}, "modelVersion": "gemini-2.5-flash-001",
	})}
}

func anthropicStream(text string, structured bool) string {
	block, delta, stop := "text", map[string]any{"type": "text_delta", "text": text}, "end_turn"
	if structured {
		block, delta, stop = "tool_use", map[string]any{"type": "input_json_delta", "partial_json": text}, "tool_use"
	}
	var b bytes.Buffer
	for _, e := range []map[string]any{
		{"type": "message_start", "message": map[string]any{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001", "content": []any{},
			"usage": map[string]any{"input_tokens": 200, "cache_read_input_tokens": 1000, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": map[string]any{
			"type": block, "id": "toolu_1", "name": "record", "input": map[string]any{}, "text": "",
		}},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": 34}},
		{"type": "message_stop"},
	} {
		b.WriteString("event: " + e["type"].(string) + "\ndata: " + clitest.JSON(e) + "\n\n")
	}
	return b.String()
}

// keyless holds every file of the home to not having the canary in it; what is compressed is for `cmemd log cat` to show.
func keyless(ts *testscript.TestScript, neg bool, _ []string) {
	var found []string
	err := filepath.WalkDir(home(ts).Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return goneIsFine(err)
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canaryKey)) {
			found = append(found, path)
		}
		return goneIsFine(err)
	})
	ts.Check(err)
	if (len(found) > 0) != neg {
		ts.Fatalf("the key is in %q", found)
	}
}

// goneIsFine passes over files that a daemon has removed meanwhile.
func goneIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
