package claudecli

import (
	"fmt"
	"net/http"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
)

// outcome is what became of the turn, now that the child has ended, and what was paid.
func (a *answer) outcome(e ending) (observer.Reply, error) { return a.pay(a.judged(e)) }

func (a *answer) judged(e ending) (observer.Reply, error) {
	switch r := a.result; {
	case a.verdict != nil:
		return observer.Reply{}, a.verdict
	case r == nil && a.understood == 0 && !e.signaled:
		return observer.Reply{}, setupFailure(fmt.Sprintf(
			"the client ended with status %d and said nothing: it is too old for the arguments it is given, or no Claude Code", e.code), nil)
	case r == nil && e.signaled:
		return observer.Reply{}, &observer.Crash{Message: "the client was killed before its result"}
	case r == nil:
		return observer.Reply{}, &observer.Crash{Message: fmt.Sprintf("the client ended with status %d before its result", e.code)}
	case r.IsError:
		return observer.Reply{}, a.failure(classOf(a.problem, r.Status, *r, a.last.id != ""), r.Status, "")
	case a.last.whole():
		return a.reply(), nil
	case a.last.id != "":
		return observer.Reply{}, a.failure(events.FailTransport, 0, cutMessage)
	}
	return observer.Reply{}, a.failure(events.FailUnknown, 0, "the client answered without asking a model")
}

func (a *answer) reply() observer.Reply {
	return observer.Reply{Text: events.NewOutput(a.last.text.String()), Form: events.FormXML, StopReason: a.last.stop}
}

// failure is typed, and says nothing in the words of the client or of its service.
func (a *answer) failure(class events.FailureClass, status int, message string) *observer.Failure {
	f := &observer.Failure{Class: class, Status: status, Message: message, Output: events.NewOutput(a.last.text.String())}
	if class == events.FailLimit || class == events.FailOverload {
		f.ResetsAt = a.resets
	}
	if message == "" {
		f.Message = "Claude Code reports: " + string(class)
	}
	if text := http.StatusText(status); message == "" && text != "" {
		f.Message += fmt.Sprintf(" (%d %s)", status, text)
	}
	return f
}

// classOf is the class of what the client calls an error: by its own word, the status of the service, and why it stopped.
// asked says that a message had begun to arrive.
func classOf(word string, status int, r resultLine, asked bool) events.FailureClass {
	switch {
	case r.Terminal == "prompt_too_long":
		return events.FailOverflow
	case r.StopReason == "refusal":
		return events.FailRefused
	}
	switch word {
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		return events.FailAuth
	case "billing_error":
		return events.FailBilling
	case "rate_limit":
		return events.FailLimit
	case "overloaded":
		return events.FailOverload
	case "model_not_found":
		return events.FailSetup
	case "max_output_tokens":
		return events.FailTruncated
	}
	if status != 0 {
		return model.ClassOfStatus(status)
	}
	switch {
	case word == "invalid_request":
		return events.FailRefused
	case word == "server_error", asked: // the service was not reached, or was lost
		return events.FailTransport
	}
	return events.FailUnknown
}
