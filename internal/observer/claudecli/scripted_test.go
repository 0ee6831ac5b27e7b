package claudecli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// scripted is a model on loopback. The first element of a request's path says how it answers.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex // guards the fields below
	asked  []string   // bodies
	logins []string   // what came as a login with each
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// questions returns the bodies of what was asked so far.
func (s *scripted) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// refusals are the answers that are an error, by name.
func refusals() map[string]struct {
	status  int
	kind    string
	message string
	header  map[string]string
} {
	type refusal = struct {
		status  int
		kind    string
		message string
		header  map[string]string
	}
	return map[string]refusal{
		"400":              {400, "invalid_request_error", "messages: something is wrong", nil},
		"400-billing":      {400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.", nil},
		"400-too-long":     {400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum", nil},
		"401":              {401, "authentication_error", "invalid x-api-key", nil},
		"401-subscription": {401, "authentication_error", "OAuth token has expired", nil},
		"402":              {402, "billing_error", "payment is required", nil},
		"403":              {403, "permission_error", "not allowed", nil},
		"404":              {404, "not_found_error", "model: none", nil},
		"408":              {408, "timeout_error", "too slow", nil},
		"413":              {413, "request_too_large", "Request exceeds the maximum size", nil},
		"422":              {422, "invalid_request_error", "not to be processed", nil},
		"429":              {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{"retry-after": "1"}},
		"429-for-long":     {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{"retry-after": "30"}},
		"429-for-hours":    {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{"retry-after": "3600"}},
		"429-subscription": {429, "rate_limit_error", "This request would exceed your rate limit", map[string]string{
			"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "4102444800",
			"anthropic-ratelimit-unified-representative-claim": "five_hour", "anthropic-ratelimit-unified-5h-utilization": "1.0",
			"anthropic-ratelimit-unified-5h-reset": "4102444800",
		}},
		"500": {500, "api_error", "internal", nil},
		"502": {502, "api_error", "bad gateway", nil},
		"503": {503, "api_error", "unavailable", nil},
		"504": {504, "timeout_error", "gateway timeout", nil},
		"529": {529, "overloaded_error", "Overloaded", nil},
	}
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, string(body))
	s.logins = append(s.logins, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	s.mu.Unlock()
	how := strings.Split(r.URL.Path, "/")[1]
	if refusal, ok := refusals()[how]; ok {
		for k, v := range refusal.header {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(refusal.status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, refusal.kind, refusal.message)
		return
	}
	switch how {
	case "hang":
		<-r.Context().Done()
	case "page":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>log in to the network</html>")
	default:
		stream(w, r, how)
	}
}

// stream answers with the service's events, as far as how lets it.
func stream(w http.ResponseWriter, r *http.Request, how string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if how == "warned" {
		w.Header().Set("anthropic-ratelimit-unified-status", "allowed_warning")
		w.Header().Set("anthropic-ratelimit-unified-reset", "4102444800")
		w.Header().Set("anthropic-ratelimit-unified-5h-utilization", "0.91")
		w.Header().Set("anthropic-ratelimit-unified-5h-reset", "4102444800")
	}
	send := func(kind, data string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, data)
		_ = http.NewResponseController(w).Flush()
	}
	text := func(s string) {
		send("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, s))
	}
	send("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":120,"cache_read_input_tokens":30,"cache_creation_input_tokens":7,"output_tokens":1}}`)
	if how == "cut-at-start" {
		return
	}
	send("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	text(half)
	switch how {
	case "cut-in-block":
		return
	case "stall":
		<-r.Context().Done()
		return
	case "error-in-stream":
		send("error", `,"error":{"type":"overloaded_error","message":"Overloaded"}`)
		return
	}
	text(whole[len(half):])
	send("content_block_stop", `,"index":0`)
	if how == "cut-before-stop" {
		return
	}
	stop := map[string]string{"longest": "max_tokens", "window": "model_context_window_exceeded", "safety": "refusal"}[how]
	if stop == "" {
		stop = "end_turn"
	}
	send("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":25}`, stop))
	if how != "cut-after-stop" {
		send("message_stop", "")
	}
}
