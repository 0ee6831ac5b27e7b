package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/anthropic"
	"github.com/cmemd/cmemd/observer/model"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Run(t, wiretest.API{
		New: func(e model.Endpoint) (model.Asker, func(), error) {
			a, err := anthropic.New(anthropic.Config{Model: "claude-haiku-4-5", Endpoint: e})
			return a, a.CloseIdleConnections, err
		},
		Says: func(form events.Form, text string) wiretest.Answer {
			if form == events.FormStructured {
				return stream(block("tool_use", "input_json_delta", "partial_json", text) + stopped("tool_use") + end())
			}
			return stream(block("text", "text_delta", "text", text) + stopped("end_turn") + end())
		},
		Model: "claude-haiku-4-5-20251001", Begun: begun(),
		Stopped: func(form events.Form, text string) wiretest.Answer {
			if form == events.FormStructured {
				return stream(block("tool_use", "input_json_delta", "partial_json", text) + stopped("max_tokens") + end())
			}
			return stream(block("text", "text_delta", "text", text) + stopped("max_tokens") + end())
		},
		Blocked: func() wiretest.Answer { return stream(stopped("refusal") + end()) },
		Refuses: refuses,
		Sent:    func(r wiretest.Request) string { return r.Header.Get("X-Api-Key") },
		Partial: true,
	})
}

func refuses(status int, word string) wiretest.Answer {
	return wiretest.Answer{
		Status: status, Header: map[string]string{"Content-Type": "application/json"},
		Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":"You've hit your weekly limit"},"request_id":"req_1"}`, word),
	}
}

// stream is a stream that has begun, with more events.
func stream(more string) wiretest.Answer {
	start := event("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001", "content": []any{},
		"stop_reason": nil, "usage": map[string]any{
			"input_tokens": 150, "cache_creation_input_tokens": 50, "cache_read_input_tokens": 1000, "output_tokens": 1,
		},
	}})
	return wiretest.Answer{
		Header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"},
		Body:   start + event("ping", map[string]any{}) + more,
	}
}

func event(name string, fields map[string]any) string {
	fields["type"] = name
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return "event: " + name + "\ndata: " + string(b) + "\n\n"
}

// block is a content block whose text comes in two parts.
func block(kind, delta, field, text string) string {
	content := map[string]any{"type": kind, "id": "toolu_1", "name": "record", "input": map[string]any{}, "text": ""}
	b := event("content_block_start", map[string]any{"index": 0, "content_block": content})
	half := len(text) / 3
	for _, part := range []string{text[:half], text[half:]} {
		b += event("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": delta, field: part}})
	}
	return b + event("content_block_stop", map[string]any{"index": 0})
}

func stopped(reason string) string {
	return event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 34},
	})
}

func end() string { return event("message_stop", map[string]any{}) }

func ask(t *testing.T, url string, q model.Question) (observer.Reply, error) {
	t.Helper()
	a, err := anthropic.New(anthropic.Config{Model: "claude-haiku-4-5", Endpoint: model.Endpoint{URL: url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.CloseIdleConnections)
	return a.Ask(t.Context(), q)
}

// begun is what a stream that has only begun has told of its cost.
func begun() events.Usage { return events.Usage{Input: 1200, Cached: 1000, Output: 1} }

// TestErrorsWithinAStream: a stream that began well and ends with an error event is told by its type.
func TestErrorsWithinAStream(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]events.FailureClass{
		"overloaded_error": events.FailOverload, "api_error": events.FailServer, "rate_limit_error": events.FailLimit,
		"authentication_error": events.FailAuth, "billing_error": events.FailBilling, "invalid_request_error": events.FailRefused,
		"timeout_error": events.FailTimeout, "another": events.FailUnknown,
	} {
		failed := event("error", map[string]any{"error": map[string]any{"type": word, "message": "weekly limit"}})
		text := block("text", "text_delta", "text", "half of it")
		_, err := ask(t, wiretest.MustServe(t, stream(text+failed)).URL, model.Question{User: "u", MaxTokens: 10})
		want := &observer.Failure{Class: want, Message: word, Output: "half of it", Usage: begun(), Calls: 1, Model: "claude-haiku-4-5-20251001"}
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
}

func TestContextWindowIsAnOverflow(t *testing.T) {
	t.Parallel()
	server := wiretest.MustServe(t, stream(block("text", "text_delta", "text", "half")+stopped("model_context_window_exceeded")+end()))
	_, err := ask(t, server.URL, model.Question{User: "u", MaxTokens: 10})
	want := &observer.Failure{
		Class: events.FailOverflow, Message: "stopped: model_context_window_exceeded", Output: "half", Usage: wiretest.Usage(), Calls: 1,
		Model: "claude-haiku-4-5-20251001",
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRequest shows what is sent: the system text is cached, and the structured form is one tool that must be used.
func TestRequest(t *testing.T) {
	t.Parallel()
	server := wiretest.MustServe(t, stream(block("text", "text_delta", "text", "x")+stopped("end_turn")+end()))
	schema := observer.Schema(events.TurnSummary, observer.CodeMode())
	q := model.Question{System: "role", User: "batch", MaxTokens: 77, Form: events.FormStructured, Schema: schema}
	if _, err := ask(t, server.URL, q); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	if r.URL != "/v1/messages" || r.Header.Get("Anthropic-Version") == "" || r.Header.Get("X-Api-Key") != "" {
		t.Errorf("got %s, %v", r.URL, r.Header)
	}
	want := `{"max_tokens":77,"messages":[{"content":[{"text":"batch","type":"text"}],"role":"user"}],"model":"claude-haiku-4-5",` +
		`"system":[{"text":"role","cache_control":{"type":"ephemeral"},"type":"text"}],` +
		`"tool_choice":{"name":"record","disable_parallel_tool_use":true,"type":"tool"},` +
		`"tools":[{"input_schema":` + string(schema) + `,"name":"record",` +
		`"description":"Takes what is to be recorded. It is called once."}],"stream":true}`
	if diff := cmp.Diff(parsed(t, want), parsed(t, r.Body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(r.Body, `"properties":{"summary":{"type":"object","properties":{"request":`) {
		t.Errorf("the fields lost their order: %s", r.Body)
	}
}

func parsed(t *testing.T, s string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestBadConfig(t *testing.T) {
	t.Parallel()
	for _, c := range []anthropic.Config{{}, {Model: "m", Endpoint: model.Endpoint{URL: "ftp://x"}}} {
		if _, err := anthropic.New(c); err == nil || strings.Contains(err.Error(), "ftp") {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}
