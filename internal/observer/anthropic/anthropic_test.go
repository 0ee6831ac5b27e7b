package anthropic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Run(t, wire())
}

// TestWireOfOlderModels: those that keep to no schema give the input of a tool.
func TestWireOfOlderModels(t *testing.T) {
	api := wire()
	api.Ability = able(false, false, true)
	said := func(stop string) func(events.Form, string) wiretest.Answer {
		return func(form events.Form, text string) wiretest.Answer {
			if form == events.FormStructured {
				return stream(block("tool_use", "input_json_delta", "partial_json", text) + stopped(stop) + end())
			}
			return stream(block("text", "text_delta", "text", text) + stopped(stop) + end())
		}
	}
	api.Says, api.Stopped = said("tool_use"), said("max_tokens")
	wiretest.Run(t, api)
}

func wire() wiretest.API {
	return wiretest.API{
		New: func(e model.Endpoint) (wiretest.Asker, error) { return anthropic.New("claude-haiku-4-5", e) },
		Says: func(_ events.Form, text string) wiretest.Answer {
			return stream(block("text", "text_delta", "text", text) + stopped("end_turn") + end())
		},
		Stopped: func(_ events.Form, text string) wiretest.Answer {
			return stream(block("text", "text_delta", "text", text) + stopped("max_tokens") + end())
		},
		Model: "claude-haiku-4-5-20251001", PartialUsage: begun(),
		Blocked:         func() wiretest.Answer { return stream(stopped("refusal") + end()) },
		Refuses:         refuses,
		IsLeastThinking: func(r wiretest.Request) bool { return strings.Contains(r.Body, `"thinking":{"type":"disabled"}`) },
		SentKey:         func(r wiretest.Request) string { return r.Header.Get("X-Api-Key") },
		KeepsPartial:    true,
	}
}

// able is what the service says of a model: whether it keeps to a schema, takes an effort, and takes it not to think.
func able(schema, effort, noThinking bool) wiretest.Answer {
	is := func(b bool) string { return fmt.Sprintf(`{"supported":%t}`, b) }
	return wiretest.Answer{
		Header: map[string]string{"Content-Type": "application/json"},
		Body: `{"type":"model","id":"claude-haiku-4-5","display_name":"Haiku","capabilities":{"structured_outputs":` + is(schema) +
			`,"effort":{"supported":` + fmt.Sprint(effort) + `,"low":` + is(effort) + `,"high":` + is(effort) + `},` +
			`"thinking":{"supported":true,"types":{"adaptive":` + is(true) + `,"disabled":` + is(noThinking) + `}}}}`,
	}
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
	a, err := anthropic.New("claude-haiku-4-5", model.Endpoint{URL: url})
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
		want := &observer.Failure{Class: want, Message: word, Output: events.NewOutput("half of it"), Bill: events.Bill{Usage: begun(), Calls: 1, Model: "claude-haiku-4-5-20251001"}}
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
		Class: events.FailOverflow, Message: "stopped: model_context_window_exceeded", Output: events.NewOutput("half"),
		Bill: events.Bill{Usage: wiretest.Usage(), Calls: 1, Model: "claude-haiku-4-5-20251001"},
	}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRequest shows what is sent by what the service says of its model: the system text is cached; the structured form is a
// schema that the answer keeps to, or for older models one tool that must be used; and thinking is kept as low as may be.
func TestRequest(t *testing.T) {
	t.Parallel()
	schema := observer.Schema(events.TurnSummary, observer.CodeMode())
	const head = `{"max_tokens":77,"messages":[{"content":[{"text":"batch","type":"text"}],"role":"user"}],"model":"claude-haiku-4-5",` +
		`"system":[{"text":"role","cache_control":{"type":"ephemeral"},"type":"text"}],"stream":true`
	format := `"format":{"type":"json_schema","schema":` + string(schema) + `}`
	const off = `,"thinking":{"type":"disabled"}`
	forced := `,"tool_choice":{"name":"record","disable_parallel_tool_use":true,"type":"tool"},"tools":[{"input_schema":` + string(schema) +
		`,"name":"record","description":"Takes what is to be recorded. It is called once."}]`
	gone := wiretest.Answer{Status: 404}
	for name, tc := range map[string]struct {
		form    events.Form
		least   bool
		ability wiretest.Answer
		want    string
	}{
		"all of it":                 {events.FormStructured, true, able(true, true, true), `,"output_config":{"effort":"low",` + format + `}` + off},
		"always thinking":           {events.FormStructured, true, able(true, true, false), `,"output_config":{"effort":"low",` + format + `}`},
		"without effort":            {events.FormStructured, true, able(true, false, true), `,"output_config":{` + format + `}` + off},
		"an older model":            {events.FormStructured, true, able(false, false, true), forced + off},
		"in XML":                    {events.FormXML, true, able(true, true, true), `,"output_config":{"effort":"low"}` + off},
		"thinking as it likes":      {events.FormStructured, false, able(true, true, true), `,"output_config":{` + format + `}`},
		"another service":           {events.FormStructured, true, gone, `,"output_config":{` + format + `}` + off},
		"another service, refusing": {events.FormStructured, true, wiretest.Answer{Status: 503}, `,"output_config":{` + format + `}` + off},
		"another service, saying nothing": {events.FormStructured, true, wiretest.Answer{
			Header: map[string]string{"Content-Type": "application/json"}, Body: `{"id":"claude-haiku-4-5","object":"model"}`,
		}, `,"output_config":{` + format + `}` + off},
	} {
		server := wiretest.MustServe(t, stream(block("text", "text_delta", "text", "x")+stopped("end_turn")+end()))
		server.AnswerGets(tc.ability)
		q := model.Question{System: "role", User: "batch", MaxTokens: 77, Form: tc.form, LeastThinking: tc.least, Schema: schema}
		if _, err := ask(t, server.URL, q); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if r.URL != "/v1/messages" || r.Header.Get("Anthropic-Version") == "" || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("%s: got %s, %v", name, r.URL, r.Header)
		}
		if diff := cmp.Diff(wiretest.Parsed(t, head+tc.want+"}"), wiretest.Parsed(t, r.Body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if tc.form == events.FormStructured && !strings.Contains(r.Body, `"properties":{"summary":{"type":"object","properties":{"request":`) {
			t.Errorf("%s: the fields lost their order: %s", name, r.Body)
		}
	}
}

// TestTheServiceIsAskedOnceWhatItsModelCan, and again where it could not be asked.
func TestTheServiceIsAskedOnceWhatItsModelCan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ability wiretest.Answer
		want    int
	}{"it says": {able(true, true, true), 1}, "it does not know": {wiretest.Answer{Status: 404}, 1}, "it is down": {wiretest.Answer{Status: 500}, 3},
		"it is busy": {wiretest.Answer{Status: 429}, 3}, "the key is wrong": {wiretest.Answer{Status: 401}, 3},
		"it always answers as a model": {stream(stopped("end_turn") + end()), 1}, "a page": {wiretest.Answer{Body: "<html>"}, 1},
		"it breaks off": {wiretest.Answer{Body: `{"id":"`, End: wiretest.Cut}, 1},
	} {
		server := wiretest.MustServe(t, stream(block("text", "text_delta", "text", "x")+stopped("end_turn")+end()))
		server.AnswerGets(tc.ability)
		a, err := anthropic.New("claude-haiku-4-5", model.Endpoint{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if r, err := a.Ask(t.Context(), model.Question{User: "u", MaxTokens: 9}); err != nil || r.Calls != 1 {
				t.Errorf("%s: got %+v, %v, want one call", name, r, err)
			}
		}
		if n := server.Gets(); n != tc.want {
			t.Errorf("%s: asked %d times, want %d", name, n, tc.want)
		}
		a.CloseIdleConnections()
	}
}
