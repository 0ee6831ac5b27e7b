package model_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

func now() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

// TestTable is the one table of what refusals mean, by the real bodies of the services.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		body   string
		want   events.FailureClass
		says   string
	}{
		// Anthropic
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`, events.FailRefused, "400 invalid_request_error"},
		{401, `{"type":"error","error":{"type":"authentication_error"}}`, events.FailAuth, "401 authentication_error"},
		{402, `{"type":"error","error":{"type":"billing_error"}}`, events.FailBilling, "402 billing_error"},
		{403, `{"type":"error","error":{"type":"billing_error"}}`, events.FailBilling, "403 billing_error"},
		{403, `{"type":"error","error":{"type":"permission_error"}}`, events.FailAuth, "403 permission_error"},
		{404, `{"type":"error","error":{"type":"not_found_error"}}`, events.FailSetup, "404 not_found_error"},
		{413, `{"type":"error","error":{"type":"request_too_large"}}`, events.FailOverflow, "413 request_too_large"},
		{429, `{"type":"error","error":{"type":"rate_limit_error"}}`, events.FailLimit, "429 rate_limit_error"},
		{500, `{"type":"error","error":{"type":"api_error"}}`, events.FailServer, "500 api_error"},
		{504, `{"type":"error","error":{"type":"timeout_error"}}`, events.FailTimeout, "504 timeout_error"},
		{529, `{"type":"error","error":{"type":"overloaded_error"}}`, events.FailOverload, "529 overloaded_error"},
		// OpenAI
		{400, `{"error":{"type":"invalid_request_error","code":"context_length_exceeded","param":"messages"}}`, events.FailOverflow, "400 context_length_exceeded"},
		{400, `{"error":{"type":"invalid_request_error","code":"string_above_max_length"}}`, events.FailOverflow, "400 string_above_max_length"},
		{400, `{"error":{"type":"invalid_request_error","code":"billing_hard_limit_reached"}}`, events.FailBilling, "400 billing_hard_limit_reached"},
		{400, `{"error":{"type":"invalid_request_error","code":"content_filter","param":null}}`, events.FailRefused, "400 content_filter"},
		{401, `{"error":{"type":"invalid_request_error","code":"invalid_api_key"}}`, events.FailAuth, "401 invalid_api_key"},
		{404, `{"error":{"type":"invalid_request_error","code":"model_not_found"}}`, events.FailSetup, "404 model_not_found"},
		{403, `{"error":{"type":"invalid_request_error","code":"model_not_found"}}`, events.FailSetup, "403 model_not_found"},
		{429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}`, events.FailBilling, "429 insufficient_quota"},
		{429, `{"error":{"type":"tokens","code":"rate_limit_exceeded"}}`, events.FailLimit, "429 rate_limit_exceeded"},
		// OpenRouter
		{402, `{"error":{"code":402,"message":"Insufficient credits"}}`, events.FailBilling, "402"},
		{403, `{"error":{"code":403,"message":"x","metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, events.FailRefused, "403 moderation"},
		{403, `{"error":{"code":403,"message":"x","metadata":{"provider_name":"x"}}}`, events.FailAuth, "403"},
		{200, `{"error":{"code":503,"message":"x"}}`, events.FailOverload, "503"},
		{200, `{"error":{"message":"x"}}`, events.FailUnknown, "neither an answer nor a reason"},
		// Ollama, LM Studio, vLLM, llama.cpp
		{404, `{"error":{"message":"model \"x\" not found","type":"not_found_error","param":null,"code":null}}`, events.FailSetup, "404 not_found_error"},
		{401, `{"error":{"message":"x","type":"api_error"}}`, events.FailAuth, "401 api_error"},
		{400, `{"error":"the model is not loaded"}`, events.FailRefused, "400"},
		{400, `{"object":"error","message":"x","type":"BadRequestError","param":null,"code":400}`, events.FailRefused, "400 BadRequestError"},
		{400, `{"error":{"code":400,"message":"x","type":"exceed_context_size_error","n_prompt_tokens":9000}}`, events.FailOverflow, "400 exceed_context_size_error"},
		{501, `{"error":{"code":501,"type":"not_supported_error"}}`, events.FailSetup, "501 not_supported_error"},
		// Google, by its own API and by the compatible one
		{400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, events.FailAuth, "400 API_KEY_INVALID"},
		{400, `[{"error":{"code":400,"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, events.FailAuth, "400 API_KEY_INVALID"},
		{400, `{"error":{"code":400,"status":"FAILED_PRECONDITION"}}`, events.FailBilling, "400 FAILED_PRECONDITION"},
		{429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}`, events.FailLimit, "429 RESOURCE_EXHAUSTED"},
		{503, `{"error":{"code":503,"status":"UNAVAILABLE"}}`, events.FailOverload, "503 UNAVAILABLE"},
		// what stands between
		{502, "<html>502 Bad Gateway: rate limit, invalid api key</html>", events.FailServer, "502"},
		{522, "", events.FailServer, "522"},
		{302, "", events.FailSetup, "302"},
		{418, `{"error":{"type":"teapot"}}`, events.FailUnknown, "418 teapot"},
		{400, `{"error":{"type":"sk-0123456789abcdef","code":"` + strings.Repeat("a", 49) + `","status":"BAD"}}`, events.FailRefused, "400 BAD"},
	} {
		got := model.Refusal{Status: tc.status, Body: model.ReadErrorBody([]byte(tc.body))}.Failure(now())
		status, _, _ := strings.Cut(tc.says, " ")
		want := &observer.Failure{Class: tc.want, Message: tc.says}
		want.Status, _ = strconv.Atoi(status)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d %s (-want +got):\n%s", tc.status, tc.body, diff)
		}
	}
}

// TestWordsForPeopleDecideNothing: any message may stand in a body.
func TestWordsForPeopleDecideNothing(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"Your credit balance is too low", "prompt is too long", "rate limit", "invalid x-api-key", "response_format"} {
		body := `{"type":"error","error":{"type":"invalid_request_error","message":"` + words + `"}}`
		r := model.Refusal{Status: 400, Body: model.ReadErrorBody([]byte(body))}
		if f := r.Failure(now()); f.Class != events.FailRefused || strings.Contains(f.Message, words) || r.Form() {
			t.Errorf("%q: got %v, form %t", words, f, r.Form())
		}
	}
}

// TestWordsWithoutAStatus: inside an answer that had begun well, the types stand for the statuses.
func TestWordsWithoutAStatus(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]events.FailureClass{
		"invalid_request_error": events.FailRefused, "authentication_error": events.FailAuth, "permission_error": events.FailAuth,
		"not_found_error": events.FailSetup, "rate_limit_error": events.FailLimit, "timeout_error": events.FailTimeout,
		"api_error": events.FailServer, "overloaded_error": events.FailOverload, "UNAVAILABLE": events.FailOverload,
		"RESOURCE_EXHAUSTED": events.FailLimit, "UNAUTHENTICATED": events.FailAuth, "else": events.FailUnknown,
	} {
		got := model.Refusal{Status: 200, Body: model.ErrorBody{Names: []string{word}}}.Failure(now())
		if diff := cmp.Diff(&observer.Failure{Class: want, Message: word}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"response_format": true, "tools": true, "tool_choice": true, "tools[0].input_schema": true, "response_format.json_schema.schema": true,
		"generation_config.response_json_schema": true, "generationConfig.responseJsonSchema": true, "": false, "messages": false,
		"messages[0].content": false, "max_tokens": false, "my_tools_and_more": false,
	} {
		for _, status := range []int{400, 404, 422, 500, 429} {
			got := model.Refusal{Status: status, Body: model.ErrorBody{Fields: []string{field}}}.Form()
			if want := want && status < 429; got != want {
				t.Errorf("%d naming %q: got %t, want %t", status, field, got, want)
			}
		}
	}
}

// TestResets: when a service says that it will answer again, in all its ways.
func TestResets(t *testing.T) {
	t.Parallel()
	const in = time.Second
	headers := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	at := func(d time.Duration) string { return now().Add(d).Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		status int
		header http.Header
		body   string
		want   time.Duration // from now; 0: none
	}{
		"nothing":                 {429, nil, "", 0},
		"seconds":                 {429, headers("Retry-After", "30"), "", 30 * in},
		"half a second":           {429, headers("Retry-After", "0.5"), "", in / 2},
		"milliseconds first":      {429, headers("Retry-After-Ms", "1500", "Retry-After", "2"), "", 1500 * time.Millisecond},
		"a date":                  {503, headers("Retry-After", now().Add(90*in).Format(http.TimeFormat)), "", 90 * in},
		"a date of another clock": {503, headers("Retry-After", now().Add(3690*in).Format(http.TimeFormat), "Date", now().Add(time.Hour).Format(http.TimeFormat)), "", 90 * in},
		"a date that is over":     {429, headers("Retry-After", now().Add(-in).Format(http.TimeFormat)), "", 0},
		"zero":                    {429, headers("Retry-After", "0"), "", 0},
		"below zero":              {429, headers("Retry-After", "-5"), "", 0},
		"for ever":                {429, headers("Retry-After", "1e300"), "", 24 * time.Hour},
		"for two days":            {429, headers("Retry-After", "172800"), "", 24 * time.Hour},
		"for 31,000 years":        {429, headers("Retry-After", "999999999999"), "", 24 * time.Hour},
		"no number":               {429, headers("Retry-After", "NaN"), "", 0},
		"words":                   {429, headers("Retry-After", "in a minute"), "", 0},
		"Anthropic, the one used up": {429, headers(
			"Anthropic-Ratelimit-Requests-Reset", at(50*in), "Anthropic-Ratelimit-Requests-Remaining", "10",
			"Anthropic-Ratelimit-Input-Tokens-Reset", at(20*in), "Anthropic-Ratelimit-Input-Tokens-Remaining", "0"), "", 20 * in},
		"Anthropic, none used up": {429, headers("Anthropic-Ratelimit-Requests-Reset", at(50*in), "Anthropic-Ratelimit-Requests-Remaining", "10"), "", 50 * in},
		"Anthropic, unified":      {429, headers("Anthropic-Ratelimit-Unified-Reset", "1772359200"), "", time.Unix(1772359200, 0).Sub(now())},
		"OpenAI, durations": {429, headers(
			"X-Ratelimit-Reset-Requests", "20ms", "X-Ratelimit-Remaining-Requests", "9",
			"X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "0"), "", 6 * time.Minute},
		"OpenRouter, in the body": {429, nil, `{"error":{"code":429,"metadata":{"headers":{"X-RateLimit-Reset":"1772355630000","X-RateLimit-Remaining":"0"}}}}`, 30 * in},
		"Google, in the body":     {429, nil, `{"error":{"details":[{"retryDelay":"34.5s"}]}}`, 34500 * time.Millisecond},
		"plain seconds":           {429, headers("X-Ratelimit-Reset", "12"), "", 12 * in},
		"another header":          {429, headers("X-Reset", "12", "Anthropic-Ratelimit-Requests-Limit", "5"), "", 0},
		"a fault, with limits":    {500, headers("Anthropic-Ratelimit-Requests-Reset", at(50*in)), "", 0},
		"overload, Retry-After":   {529, headers("Retry-After", "7"), "", 7 * in},
		"a bad key, Retry-After":  {401, headers("Retry-After", "7"), "", 0},
		"too long, Retry-After":   {413, headers("Retry-After", "7"), "", 0},
	} {
		r := model.Refusal{Status: tc.status, Header: tc.header, Body: model.ReadErrorBody([]byte(tc.body))}
		got := r.Failure(now()).ResetsAt
		var want time.Time
		if tc.want != 0 {
			want = now().Add(tc.want)
		}
		if !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "", "rate_limit_error": "rate_limit_error", "MAX_TOKENS": "MAX_TOKENS", "sk-ant-x": "", "a1": "", "two words": "", "é": "",
		strings.Repeat("a", 48): strings.Repeat("a", 48), strings.Repeat("a", 49): "",
	} {
		if got := model.Word(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

// FuzzRefusal holds what is true of every body and header: a class that blames somebody, a reset within bounds, a message
// without anything of the body but a word.
func FuzzRefusal(f *testing.F) {
	f.Add(429, `{"error":{"type":"tokens","code":"rate_limit_exceeded","param":"x"}}`, "30", "6m0s")
	f.Add(400, `[{"error":{"details":[{"retryDelay":"9e99s","fieldViolations":[{"field":"tools"}]}]}}]`, "-1", "1e11")
	f.Add(200, `{"error":{"code":502,"metadata":{"headers":{"X-RateLimit-Reset":"1"},"reasons":["x"]}}}`, "NaN", "inf")
	f.Add(302, `{"details":{},"metadata":[],"code":{},"type":1e9}`, "Sun, 01 Mar 2026 09:00:30 GMT", "2026-03-01T10:00:00Z")
	f.Fuzz(func(t *testing.T, status int, body, retry, reset string) {
		h := http.Header{"Retry-After": {retry}, "X-Ratelimit-Reset": {reset}}
		r := model.Refusal{Status: status, Header: h, Body: model.ReadErrorBody([]byte(body))}
		got := r.Failure(now())
		if !got.Class.BlamesProvider() && !got.Class.BlamesTurn() {
			t.Errorf("class %q", got.Class)
		}
		if at := got.ResetsAt; !at.IsZero() && (!at.After(now()) || at.After(now().Add(policy.MaxReset))) {
			t.Errorf("resets at %v", at)
		}
		if words := strings.Fields(got.Message); len(words) == 0 || len(got.Message) > 80 {
			t.Errorf("message %q", got.Message)
		}
	})
}
