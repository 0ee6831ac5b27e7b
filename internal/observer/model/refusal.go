package model

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Refusal is what a service said in the place of an answer: its status, its headers, and the words for programs in its
// body. What it says to people is not in it.
type Refusal struct {
	Status int // HTTP; 2xx or 0 where the words came inside an answer that had begun
	Header http.Header
	Body   ErrorBody
}

// Failure is what r means, by one table for all services. Its message is the status and the word that decided.
func (r Refusal) Failure(now time.Time) *observer.Failure {
	status := r.Status
	if status < 300 && r.Body.Status >= 300 {
		status = r.Body.Status
	}
	f := &observer.Failure{Class: classOf(status, r.Body.Names), Message: r.message(status)}
	if status >= 300 {
		f.Status = status
	}
	switch f.Class {
	case events.FailLimit:
		f.ResetsAt = firstOf(now, retryAfter(r.Header, r.Body, now), limitsReset(r.Header, now), limitsReset(r.Body.Header, now))
	case events.FailOverload, events.FailServer, events.FailTimeout: // its limits stand in every answer, and are not why
		f.ResetsAt = firstOf(now, retryAfter(r.Header, r.Body, now))
	}
	return f
}

// Form reports whether r names the form of the answer as what it objects to.
func (r Refusal) Form() bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return slices.ContainsFunc(r.Body.Fields, namesForm)
	}
	return false
}

// namesForm is for the parameters by which the services are asked for a form. They may stand in a path.
func namesForm(field string) bool {
	for _, part := range strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch part {
		case "response_format", "json_schema", "tools", "tool_choice",
			"response_json_schema", "responseJsonSchema", "response_schema", "responseSchema", "response_mime_type", "responseMimeType":
			return true
		}
	}
	return false
}

// message is the status and the first word that may be shown.
func (r Refusal) message(status int) string {
	var parts []string
	if status >= 300 {
		parts = append(parts, strconv.Itoa(status))
	}
	for _, n := range r.Body.Names {
		if n = Word(n); n != "" {
			parts = append(parts, n)
			break
		}
	}
	if len(parts) == 0 {
		return "neither an answer nor a reason"
	}
	return strings.Join(parts, " ")
}

// Word is s, a word for programs that a service said, if it may be shown and recorded; else "". One that holds more than
// letters, or is long, may be anything, a key too.
func Word(s string) string {
	if len(s) > 48 || strings.ContainsFunc(s, func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) {
		return ""
	}
	return s
}

// classOf decides by the words that mean one thing alone, then by the status, then by the words that repeat one.
func classOf(status int, names []string) events.FailureClass {
	for _, n := range names {
		if c := classOfName(n); c != "" {
			return c
		}
	}
	if c := statusClass(status); c != "" {
		return c
	}
	for _, n := range names {
		if c := classOfStatusName(n); c != "" {
			return c
		}
	}
	return events.FailUnknown
}

// ClassOfStatus is what a status means where a service says no more than that, for whoever has the status and has not
// seen the refusal. What is no refusal, from 0 to 299, is FailUnknown.
func ClassOfStatus(status int) events.FailureClass {
	return cmp.Or(statusClass(status), events.FailUnknown)
}

// statusClass is "" for what is no refusal.
func statusClass(status int) events.FailureClass {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons:
		return events.FailRefused
	case http.StatusUnauthorized, http.StatusForbidden:
		return events.FailAuth
	case http.StatusPaymentRequired:
		return events.FailBilling
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone, http.StatusUnsupportedMediaType,
		http.StatusNotImplemented:
		return events.FailSetup
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return events.FailTimeout
	case http.StatusRequestEntityTooLarge:
		return events.FailOverflow
	case http.StatusTooManyRequests:
		return events.FailLimit
	case http.StatusServiceUnavailable, statusOverloaded:
		return events.FailOverload
	}
	switch {
	case status >= 500:
		return events.FailServer
	case status >= 300 && status < 400:
		return events.FailSetup // a redirection: the address is wrong, and a key is not carried to another
	case status >= 400:
		return events.FailUnknown
	}
	return ""
}

// statusOverloaded is what Anthropic answers under load.
const statusOverloaded = 529

// classOfName knows the words of the services that say more than the status they come with.
func classOfName(name string) events.FailureClass {
	switch name {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", // OpenAI, Anthropic
		"BILLING_DISABLED", "FAILED_PRECONDITION": // Google: a project without billing, a region without a free tier
		return events.FailBilling
	case "context_length_exceeded", "string_above_max_length", // OpenAI
		"request_too_large",         // Anthropic
		"exceed_context_size_error": // llama.cpp
		return events.FailOverflow
	case "content_filter", "content_policy_violation", "invalid_prompt", // OpenAI, Azure
		"moderation": // OpenRouter (see moderated)
		return events.FailRefused
	case "invalid_api_key", "account_deactivated", // OpenAI
		"API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED", "CONSUMER_SUSPENDED": // Google
		return events.FailAuth
	case "model_not_found", // OpenAI
		"SERVICE_DISABLED": // Google
		return events.FailSetup
	case "overloaded_error": // Anthropic
		return events.FailOverload
	}
	return ""
}

// classOfStatusName knows the words that stand for a status. They count where there is none: inside an answer.
func classOfStatusName(name string) events.FailureClass {
	switch name {
	case "invalid_request_error", "INVALID_ARGUMENT":
		return events.FailRefused
	case "authentication_error", "permission_error", "UNAUTHENTICATED", "PERMISSION_DENIED":
		return events.FailAuth
	case "not_found_error", "NOT_FOUND":
		return events.FailSetup
	case "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED":
		return events.FailLimit
	case "timeout_error", "DEADLINE_EXCEEDED":
		return events.FailTimeout
	case "UNAVAILABLE":
		return events.FailOverload
	case "api_error", "server_error", "INTERNAL":
		return events.FailServer
	}
	return ""
}
