package gemini_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/gemini"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/wiretest"
)

func TestWire(t *testing.T) {
	wiretest.Run(t, wiretest.API{
		New:     func(e model.Endpoint) (wiretest.Asker, error) { return gemini.New("gemini-2.5-flash", e) },
		Says:    func(_ events.Form, text string) wiretest.Answer { return candidate("STOP", text) },
		Stopped: func(_ events.Form, text string) wiretest.Answer { return candidate("MAX_TOKENS", text) },
		Model:   "gemini-2.5-flash-001",
		Blocked: func() wiretest.Answer {
			return wiretest.JSON(map[string]any{"promptFeedback": map[string]any{"blockReason": "SAFETY"}, "usageMetadata": usage(), "modelVersion": "gemini-2.5-flash-001"})
		},
		Refuses: func(status int, word string) wiretest.Answer { return refuses(status, word, "[]") },
		FormRefused: refuses(400, "INVALID_ARGUMENT", `[{"@type":"type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations":[{"field":"generation_config.response_json_schema","description":"x"}]}]`),
		IsLeastThinking: func(r wiretest.Request) bool { return strings.Contains(r.Body, `"thinkingBudget":0`) },
		LeastThinkingRefused: refuses(400, "INVALID_ARGUMENT", `[{"@type":"type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations":[{"field":"generation_config.thinking_config.thinking_budget","description":"x"}]}]`),
		SentKey: func(r wiretest.Request) string { return r.Header.Get("X-Goog-Api-Key") },
	})
}

func refuses(status int, word, details string) wiretest.Answer {
	return wiretest.Answer{
		Status: status, Header: map[string]string{"Content-Type": "application/json; charset=UTF-8"},
		Body: fmt.Sprintf(`{"error":{"code":%d,"message":"weekly limit","status":%q,"details":%s}}`, status, word, details),
	}
}

func candidate(reason, text string) wiretest.Answer {
	half := len(text) / 3
	parts := []any{
		map[string]any{"text": "let me think", "thought": true}, map[string]any{"text": text[:half]}, map[string]any{"text": text[half:]},
	}
	return wiretest.JSON(map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "finishReason": reason, "content": map[string]any{"role": "model", "parts": parts},
		}},
		"usageMetadata": usage(), "modelVersion": "gemini-2.5-flash-001",
	})
}

func usage() map[string]any {
	return map[string]any{"promptTokenCount": 1200, "cachedContentTokenCount": 1000, "candidatesTokenCount": 30, "thoughtsTokenCount": 4}
}

func ask(t *testing.T, a wiretest.Answer, q model.Question) (observer.Reply, wiretest.Request, error) {
	t.Helper()
	return askModel(t, "gemini-2.5-flash", a, q)
}

func askModel(t *testing.T, name string, a wiretest.Answer, q model.Question) (observer.Reply, wiretest.Request, error) {
	t.Helper()
	server := wiretest.MustServe(t, a)
	g, err := gemini.New(name, model.Endpoint{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.CloseIdleConnections)
	r, err := g.Ask(t.Context(), q)
	return r, server.Requests()[0], err
}

// TestFinishReasons: what the service blocks blames the turn, whatever had come.
func TestFinishReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]events.FailureClass{
		"SAFETY": events.FailRefused, "RECITATION": events.FailRefused, "BLOCKLIST": events.FailRefused, "PROHIBITED_CONTENT": events.FailRefused,
		"SPII": events.FailRefused, "OTHER": events.FailRefused, "MAX_TOKENS": events.FailTruncated, "TO_COME": events.FailRefused,
	} {
		_, _, err := ask(t, candidate(reason, "half"), model.Question{User: "u", MaxTokens: 9})
		want := &observer.Failure{Class: want, Message: "finished: " + reason, Output: events.NewOutput("half"), Bill: events.Bill{Usage: wiretest.Usage(), Calls: 1, Model: "gemini-2.5-flash-001"}}
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	_, _, err := ask(t, wiretest.JSON(map[string]any{}), model.Question{User: "u", MaxTokens: 9})
	want := &observer.Failure{Class: events.FailTransport, Message: "the answer broke off", Bill: events.Bill{Calls: 1}}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("nothing (-want +got):\n%s", diff)
	}
}

// TestReasonsInDetails: the reason in the details says more than the status.
func TestReasonsInDetails(t *testing.T) {
	t.Parallel()
	const info = `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"googleapis.com"}]`
	for _, tc := range []struct {
		status       int
		word, reason string
		want         events.FailureClass
	}{
		{400, "INVALID_ARGUMENT", "API_KEY_INVALID", events.FailAuth}, {403, "PERMISSION_DENIED", "BILLING_DISABLED", events.FailBilling},
		{403, "PERMISSION_DENIED", "SERVICE_DISABLED", events.FailSetup}, {400, "FAILED_PRECONDITION", "x", events.FailBilling},
		{400, "INVALID_ARGUMENT", "x", events.FailRefused},
	} {
		_, _, err := ask(t, refuses(tc.status, tc.word, fmt.Sprintf(info, tc.reason)), model.Question{User: "u", MaxTokens: 9})
		if f, ok := err.(*observer.Failure); !ok || f.Class != tc.want || f.Status != tc.status {
			t.Errorf("%d %s %s: got %v, want %s", tc.status, tc.word, tc.reason, err, tc.want)
		}
	}
	const retry = `[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]`
	_, _, err := ask(t, refuses(429, "RESOURCE_EXHAUSTED", retry), model.Question{User: "u", MaxTokens: 9})
	f, ok := err.(*observer.Failure)
	if !ok {
		t.Fatalf("got %v", err)
	}
	if left := time.Until(f.ResetsAt); f.Class != events.FailLimit || left < 30*time.Second || left > 35*time.Second {
		t.Errorf("got %v with a reset in %v, want a limit for 34.5 s", err, left)
	}
}

// TestRequest shows what is sent.
func TestRequest(t *testing.T) {
	t.Parallel()
	schema := observer.Schema(events.TurnSummary, observer.CodeMode())
	q := model.Question{System: "role", User: "batch", MaxTokens: 77, Form: events.FormStructured, LeastThinking: true, Schema: schema}
	_, r, err := ask(t, candidate("STOP", "x"), q)
	if err != nil {
		t.Fatal(err)
	}
	if r.URL != "/v1beta/models/gemini-2.5-flash:generateContent" || r.Header.Get("X-Goog-Api-Key") != "" {
		t.Errorf("got %s, %v, want no key", r.URL, r.Header)
	}
	want := `{"contents":[{"parts":[{"text":"batch"}],"role":"user"}],"systemInstruction":{"parts":[{"text":"role"}],"role":"user"},` +
		`"generationConfig":{"candidateCount":1,"maxOutputTokens":77,"responseMimeType":"application/json",` +
		`"responseJsonSchema":` + string(schema) + `,"thinkingConfig":{"thinkingBudget":0}}}`
	if diff := cmp.Diff(wiretest.Parsed(t, want), wiretest.Parsed(t, r.Body)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestThinking: each generation is told in its own words to think as little as it can.
func TestThinking(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gemini-2.5-flash": `{"thinkingBudget":0}`, "gemini-2.5-flash-lite": `{"thinkingBudget":0}`, "gemini-2.5-pro": `{"thinkingBudget":128}`,
		"gemini-3-pro-preview": `{"thinkingLevel":"LOW"}`, "gemini-3.5-flash": `{"thinkingLevel":"LOW"}`, "gemini-12-pro": `{"thinkingLevel":"LOW"}`,
		"models/gemini-3-flash": `{"thinkingLevel":"LOW"}`, "gemini-2.0-flash": "", "gemma-3-27b": "", "gemini-pro": "",
	} {
		for _, least := range []bool{true, false} {
			_, r, err := askModel(t, name, candidate("STOP", "x"), model.Question{User: "u", MaxTokens: 9, LeastThinking: least})
			if err != nil {
				t.Fatal(err)
			}
			told := want != "" && strings.Contains(r.Body, `"thinkingConfig":`+want)
			if least && want != "" && !told || (!least || want == "") && strings.Contains(r.Body, "thinking") {
				t.Errorf("%s, least: %t: sent %s, want %s", name, least, r.Body, want)
			}
		}
	}
}
