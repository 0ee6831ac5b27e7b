package model

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ErrorBody is what the body of a refusal says to programs.
type ErrorBody struct {
	Names  []string      // codes and types, the one that says most first
	Fields []string      // the parameters of the request that it objects to
	Status int           // stated in the body; 0: none
	After  time.Duration // when to come back; 0: it does not say
	Header http.Header   // of the service behind the one that was asked
}

// ReadErrorBody reads the bodies of all services: {"error": {...}} of Anthropic, OpenAI, OpenRouter, Ollama and Google, a list
// of it, or the error itself, as vLLM gives it. What does not look like one gives an empty one. It never fails.
func ReadErrorBody(body []byte) ErrorBody {
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return ErrorBody{}
	}
	if list, ok := doc.([]any); ok && len(list) > 0 {
		doc = list[0]
	}
	root, _ := doc.(map[string]any)
	if inner, ok := root["error"].(map[string]any); ok {
		root = inner
	}
	var b ErrorBody
	b.readDetails(root["details"])
	b.readMetadata(root["metadata"])
	b.add(root["code"])
	b.add(root["type"])
	b.add(root["status"])
	if param, ok := root["param"].(string); ok {
		b.Fields = append(b.Fields, param)
	}
	return b
}

// add takes a word or a status.
func (b *ErrorBody) add(v any) {
	switch v := v.(type) {
	case string:
		if v != "" {
			b.Names = append(b.Names, v)
		}
	case float64:
		if v >= 100 && v < 600 && b.Status == 0 {
			b.Status = int(v)
		}
	}
}

// readDetails reads Google's google.rpc.ErrorInfo, RetryInfo and BadRequest.
func (b *ErrorBody) readDetails(v any) {
	list, _ := v.([]any)
	for _, item := range list {
		detail, _ := item.(map[string]any)
		b.add(detail["reason"])
		if s, ok := detail["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(s); err == nil && d > 0 {
				b.After = max(b.After, d)
			}
		}
		violations, _ := detail["fieldViolations"].([]any)
		for _, item := range violations {
			violation, _ := item.(map[string]any)
			if field, ok := violation["field"].(string); ok {
				b.Fields = append(b.Fields, field)
			}
		}
	}
}

// readMetadata reads OpenRouter's: the reasons of a moderation, or the headers of the service behind it.
func (b *ErrorBody) readMetadata(v any) {
	meta, _ := v.(map[string]any)
	if reasons, ok := meta["reasons"].([]any); ok && len(reasons) > 0 {
		b.Names = append(b.Names, "moderation")
	}
	headers, _ := meta["headers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if value, ok := headers[name].(string); ok && strings.TrimSpace(value) != "" {
			if b.Header == nil {
				b.Header = http.Header{}
			}
			b.Header.Set(name, value)
		}
	}
}
