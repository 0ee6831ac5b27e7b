package model

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Words are what the body of a refusal says to programs.
type Words struct {
	Names  []string      // codes and types, the one that says most first
	Fields []string      // the parameters of the request that it objects to
	Status int           // stated in the body; 0: none
	After  time.Duration // when to come back; 0: it does not say
	Header http.Header   // of the service behind the one that was asked
}

// ReadWords reads the bodies of all services: {"error": {...}} of Anthropic, OpenAI, OpenRouter, Ollama and Google, a list of
// it, or the error itself, as vLLM gives it. What does not look like one gives no words. It never fails.
func ReadWords(body []byte) Words {
	var doc any
	if json.Unmarshal(body, &doc) != nil {
		return Words{}
	}
	if list, ok := doc.([]any); ok && len(list) > 0 {
		doc = list[0]
	}
	root, _ := doc.(map[string]any)
	if inner, ok := root["error"].(map[string]any); ok {
		root = inner
	}
	var w Words
	w.readDetails(root["details"])
	w.readMetadata(root["metadata"])
	w.add(root["code"])
	w.add(root["type"])
	w.add(root["status"])
	if param, ok := root["param"].(string); ok {
		w.Fields = append(w.Fields, param)
	}
	return w
}

// add takes a word or a status.
func (w *Words) add(v any) {
	switch v := v.(type) {
	case string:
		if v != "" {
			w.Names = append(w.Names, v)
		}
	case float64:
		if v >= 100 && v < 600 && w.Status == 0 {
			w.Status = int(v)
		}
	}
}

// readDetails reads Google's google.rpc.ErrorInfo, RetryInfo and BadRequest.
func (w *Words) readDetails(v any) {
	list, _ := v.([]any)
	for _, item := range list {
		detail, _ := item.(map[string]any)
		w.add(detail["reason"])
		if s, ok := detail["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(s); err == nil && d > 0 {
				w.After = max(w.After, d)
			}
		}
		violations, _ := detail["fieldViolations"].([]any)
		for _, item := range violations {
			violation, _ := item.(map[string]any)
			if field, ok := violation["field"].(string); ok {
				w.Fields = append(w.Fields, field)
			}
		}
	}
}

// readMetadata reads OpenRouter's: the reasons of a moderation, or the headers of the service behind it.
func (w *Words) readMetadata(v any) {
	meta, _ := v.(map[string]any)
	if reasons, ok := meta["reasons"].([]any); ok && len(reasons) > 0 {
		w.Names = append(w.Names, "moderation")
	}
	headers, _ := meta["headers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if value, ok := headers[name].(string); ok && strings.TrimSpace(value) != "" {
			if w.Header == nil {
				w.Header = http.Header{}
			}
			w.Header.Set(name, value)
		}
	}
}
