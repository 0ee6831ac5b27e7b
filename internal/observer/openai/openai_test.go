package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/openai"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Run(t, wiretest.API{
		New:     func(e model.Endpoint) (wiretest.Asker, error) { return openai.New("gpt-5-mini", e) },
		Says:    func(_ events.Form, text string) wiretest.Answer { return costing(completion("stop", text)) },
		Stopped: func(_ events.Form, text string) wiretest.Answer { return costing(completion("length", text)) },
		Blocked: func() wiretest.Answer { return costing(completion("content_filter", "")) },
		Model:   "gpt-5-mini-2025", Cost: 0.00042,
		Refuses:     func(status int, word string) wiretest.Answer { return refuses(status, word, "invalid", "messages") },
		FormRefused: refuses(400, "invalid_request_error", "unsupported_value", "response_format"),
		SentKey: func(r wiretest.Request) string {
			return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		},
	})
}

func refuses(status int, word, code, param string) wiretest.Answer {
	return wiretest.Answer{
		Status: status, Header: map[string]string{"Content-Type": "application/json"},
		Body: fmt.Sprintf(`{"error":{"message":"weekly limit","type":%q,"code":%q,"param":%q}}`, word, code, param),
	}
}

func completion(reason, text string) wiretest.Answer {
	return wiretest.JSON(map[string]any{
		"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini-2025",
		"choices": []any{map[string]any{"index": 0, "finish_reason": reason, "message": map[string]any{"role": "assistant", "content": text}}},
		"usage": map[string]any{
			"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234, "prompt_tokens_details": map[string]any{"cached_tokens": 1000},
		},
	})
}

// costing is a with what it cost, as OpenRouter says it.
func costing(a wiretest.Answer) wiretest.Answer {
	a.Body = strings.Replace(a.Body, `"usage":{`, `"usage":{"cost":0.00042,`, 1)
	return a
}

func asker(t *testing.T, url string) *openai.Asker {
	t.Helper()
	a, err := openai.New("qwen3", model.Endpoint{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.CloseIdleConnections)
	return a
}

// TestFailuresOfEndpoints holds the endpoints' own ways to fail under a good status.
func TestFailuresOfEndpoints(t *testing.T) {
	t.Parallel()
	choice := func(fields map[string]any) wiretest.Answer {
		return wiretest.JSON(map[string]any{"choices": []any{fields}})
	}
	for name, tc := range map[string]struct {
		answer wiretest.Answer
		want   observer.Failure
	}{
		"OpenRouter, the service behind it failed": {
			choice(map[string]any{"finish_reason": "error", "message": map[string]any{"content": "ha"}, "error": map[string]any{"code": 502, "message": "x"}}),
			observer.Failure{Class: events.FailServer, Status: 502, Message: "502", Output: events.NewOutput("ha"), Bill: events.Bill{Calls: 1}},
		},
		"OpenRouter, an error in the place of choices": {
			wiretest.JSON(map[string]any{"error": map[string]any{"code": 429, "message": "x"}}),
			observer.Failure{Class: events.FailLimit, Status: 429, Message: "429", Bill: events.Bill{Calls: 1}},
		},
		"a refusal of the model": {
			choice(map[string]any{"finish_reason": "stop", "message": map[string]any{"content": "", "refusal": "I cannot"}}),
			observer.Failure{Class: events.FailRefused, Message: "finished: stop", Bill: events.Bill{Calls: 1}},
		},
		"no choices": {
			wiretest.JSON(map[string]any{"choices": []any{}}),
			observer.Failure{Class: events.FailUnknown, Message: "neither an answer nor a reason", Bill: events.Bill{Calls: 1}},
		},
	} {
		_, err := asker(t, wiretest.MustServe(t, tc.answer).URL).Ask(t.Context(), model.Question{User: "u", MaxTokens: 9})
		if diff := cmp.Diff(error(&tc.want), err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRequest shows what is sent: without a key where there is none, with the schema in the structured form.
func TestRequest(t *testing.T) {
	t.Parallel()
	server := wiretest.MustServe(t, completion("stop", "x"))
	schema := observer.Schema(events.TurnSummary, observer.CodeMode())
	q := model.Question{System: "role", User: "batch", MaxTokens: 77, Form: events.FormStructured, Schema: schema}
	if _, err := asker(t, server.URL+"/v1").Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	if _, signed := r.Header["Authorization"]; signed || r.URL != "/v1/chat/completions" {
		t.Errorf("got %s, %v, want no key", r.URL, r.Header)
	}
	want := `{"messages":[{"content":"role","role":"system"},{"content":"batch","role":"user"}],"model":"qwen3","max_tokens":77,` +
		`"response_format":{"json_schema":{"name":"record","strict":true,"schema":` + string(schema) + `},"type":"json_schema"}}`
	if diff := cmp.Diff(wiretest.Parsed(t, want), wiretest.Parsed(t, r.Body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(r.Body, string(schema)) {
		t.Errorf("the fields lost their order: %s", r.Body)
	}
}

// elsewhere sends what is meant for a service to a server of ours.
type elsewhere struct{ host string }

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", e.host
	return http.DefaultTransport.RoundTrip(r)
}

// TestRefusedParametersAreDoneWithout: a parameter that is refused by its name is named otherwise, or left out, from then on.
func TestRefusedParametersAreDoneWithout(t *testing.T) {
	t.Parallel()
	refused := func(param string) wiretest.Answer {
		return refuses(400, "invalid_request_error", "unsupported_parameter", param)
	}
	fine := completion("stop", "x")
	for name, tc := range map[string]struct {
		url    string // empty: a local endpoint
		script []wiretest.Answer
		asked  []string // parameters in doubt, by request
	}{
		"a local endpoint":          {"", []wiretest.Answer{fine}, []string{"max_tokens", "max_tokens"}},
		"one that has the new name": {"", []wiretest.Answer{refused("max_tokens"), fine}, []string{"max_tokens", "max_completion_tokens", "max_completion_tokens"}},
		"OpenAI": {"https://api.openai.com/v1", []wiretest.Answer{fine}, []string{
			"max_completion_tokens reasoning_effort", "max_completion_tokens reasoning_effort",
		}},
		"OpenRouter": {"https://openrouter.ai/api/v1", []wiretest.Answer{fine}, []string{"max_tokens reasoning_effort", "max_tokens reasoning_effort"}},
		"OpenAI, a model that does not reason": {"https://api.openai.com/v1", []wiretest.Answer{refused("reasoning_effort"), fine}, []string{
			"max_completion_tokens reasoning_effort", "max_completion_tokens", "max_completion_tokens",
		}},
	} {
		server := wiretest.MustServe(t, tc.script...)
		e := model.Endpoint{URL: server.URL}
		if tc.url != "" {
			e = model.Endpoint{URL: tc.url, Transport: elsewhere{strings.TrimPrefix(server.URL, "http://")}}
		}
		a, err := openai.New("m", e)
		if err != nil {
			t.Fatal(err)
		}
		for n := range tc.asked {
			r, err := a.Ask(t.Context(), model.Question{User: "u", MaxTokens: 9, LeastThinking: true})
			if again := n+1 < len(tc.script); again != errors.Is(err, model.ErrAgain) || !again && (err != nil || r.Text.RawText() != "x") || r.Calls != 1 {
				t.Errorf("%s: question %d: got %+v, %v, want to be told to ask again: %t", name, n+1, r, err, again)
			}
		}
		var asked []string
		for _, r := range server.Requests() {
			asked = append(asked, strings.Join(doubtful(t, r.Body), " "))
		}
		if diff := cmp.Diff(tc.asked, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// doubtful are the parameters of a request that not all endpoints know.
func doubtful(t *testing.T, body string) (names []string) {
	for name := range wiretest.Parsed(t, body).(map[string]any) {
		if strings.HasPrefix(name, "max_") || name == "reasoning_effort" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestCost: an endpoint that says what an answer cost is believed, if it is a price.
func TestCost(t *testing.T) {
	t.Parallel()
	for told, want := range map[string]struct {
		usd    float64
		stated bool
	}{
		`"cost":0.00042,`: {0.00042, true}, `"cost":0,`: {0, true}, `"cost":null,`: {}, `"cost":-1,`: {}, `"cost":"x",`: {}, "": {},
	} {
		a := completion("stop", "x")
		a.Body = strings.Replace(a.Body, `"usage":{`, `"usage":{`+told, 1)
		got, err := asker(t, wiretest.MustServe(t, a).URL).Ask(t.Context(), model.Question{User: "u", MaxTokens: 9})
		if err != nil || got.Cost != want.usd || got.CostStated != want.stated {
			t.Errorf("%s: got %v, told %t, %v, want %v", told, got.Cost, got.CostStated, err, want)
		}
	}
}
