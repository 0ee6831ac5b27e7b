package claudecli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/clip"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/anthropic"
	"github.com/cmemd/cmemd/internal/observer/model"
)

const (
	// maxText bounds an answer: it is stored whole and for ever, and no turn needs more.
	maxText = 256 << 10
	// maxLine is an answer of that size as one JSON string, each byte escaped at worst, and what stands around it.
	maxLine = 6*maxText + 512<<10
	// maxWait is the longest that the client may wait before it asks its service again.
	maxWait = 10 * time.Second
	// maxDelayMS is 30 days: a wait that is longer is no wait.
	maxDelayMS = 30 * 24 * 3600 * 1000
)

// answer is what a child has said so far. What it says of itself decides little: it calls half an answer a success. An answer
// is whole if the stream said why the model stopped, and the client did not abandon it: a cut stream ends without the first
// in older clients (2.1.197), and with the second in newer ones (2.1.329).
//
// Only the goroutine that reads the child's output may use it, and after the child's end whoever waited for that.
type answer struct {
	stop     func()           // ends the child: what it would say from now on is not wanted
	finished func()           // the child has said its last
	now      func() time.Time // for what is said as a span

	understood int       // lines
	last       message   // the latest of the model's
	problem    string    // the client's word for what went wrong
	resets     time.Time // of the limit that was reached
	spent      spending
	result     *resultLine
	verdict    *observer.Failure // what was decided before the end
}

// message is one of the model's.
type message struct {
	id, model string
	text      strings.Builder
	stop      string // why the model stopped; empty: it has not, as far as is known
	abandoned bool   // by the client
}

// whole reports whether all of the message arrived.
func (m *message) whole() bool { return m.stop != "" && !m.abandoned }

// add appends text as far as it fits, and reports whether all did.
func (m *message) add(text string) bool {
	room := maxText - m.text.Len()
	if len(text) <= room {
		m.text.WriteString(text)
		return true
	}
	m.text.WriteString(clip.Head(text, room))
	return false
}

// take reads one line. What is not understood is passed over: newer clients say more.
func (a *answer) take(line []byte) {
	var head struct {
		Type    string  `json:"type"`
		Subtype string  `json:"subtype"`
		Parent  *string `json:"parent_tool_use_id"`
	}
	if a.verdict != nil || json.Unmarshal(line, &head) != nil || head.Parent != nil {
		return
	}
	a.understood++
	switch head.Type + "/" + head.Subtype {
	case "system/init":
		decode(line, a.refuseTools)
	case "system/api_retry":
		decode(line, a.retries)
	case "stream_event/":
		decode(line, a.streamed)
	case "assistant/":
		decode(line, a.said)
	case "user/":
		a.goesOn()
	case "rate_limit_event/":
		decode(line, a.limited)
	default:
		if head.Type == "result" {
			decode(line, a.ended)
		}
	}
}

// decode hands a line on as T, if it is one.
func decode[T any](line []byte, take func(T)) {
	var t T
	if json.Unmarshal(line, &t) == nil {
		take(t)
	}
}

// initLine is how a child begins.
type initLine struct {
	Tools   []json.RawMessage `json:"tools"`
	Servers []json.RawMessage `json:"mcp_servers"`
}

// refuseTools refuses a client that gives the model tools although it is told not to: the batch is full of other people's words.
func (a *answer) refuseTools(l initLine) {
	if len(l.Tools)+len(l.Servers) > 0 {
		a.decide(events.FailSetup, 0, "the client gives the model tools or servers, though none were asked for")
	}
}

// retryLine says that the client will ask its service again.
type retryLine struct {
	DelayMS float64 `json:"retry_delay_ms"`
	Status  int     `json:"error_status"`
	Error   string  `json:"error"`
}

// retries lets the client try again where that may help soon.
func (a *answer) retries(l retryLine) {
	a.spent.beginRetry()
	class := classOf(l.Error, l.Status, resultLine{}, true)
	switch delay := time.Duration(min(l.DelayMS, maxDelayMS)) * time.Millisecond; {
	case class == events.FailAuth || class == events.FailBilling || class == events.FailSetup || class.BlamesTurn():
		a.decide(class, l.Status, "")
	case delay > maxWait:
		a.resets = a.now().Add(delay)
		a.decide(class, l.Status, "")
	}
}

// streamLine is one event of the service's own stream.
type streamLine struct {
	Event     anthropic.Event `json:"event"`
	Abandoned json.RawMessage `json:"abandoned_blocks"`
}

func (a *answer) streamed(l streamLine) {
	if l.Abandoned != nil {
		a.last.abandoned = true
	}
	switch e := l.Event; e.Type {
	case "message_start":
		a.last = message{id: e.Message.ID, model: e.Message.Model}
		a.spent.beginMessage()
		a.spent.countMessage(e.Message.Usage)
	case "content_block_delta":
		if !a.last.add(e.Delta.Text) {
			a.decide(events.FailTruncated, 0, "the answer is too long")
		}
	case "message_delta":
		a.spent.countMessage(e.Usage)
		if e.Delta.StopReason != "" {
			a.last.stop = e.Delta.StopReason
			a.takeStop()
		}
	}
}

// takeStop decides by why the model stopped: the client would ask it to go on, up to three times, and hand back pieces.
func (a *answer) takeStop() {
	switch class := anthropic.ClassOfStop(a.last.stop); class {
	case events.FailTruncated:
		a.decide(class, 0, "the answer was cut at its longest length")
	case events.FailOverflow:
		a.decide(class, 0, "prompt and answer are longer than the model's window")
	case events.FailRefused:
		a.decide(class, 0, "the service refused the turn")
	}
}

// saidLine is a message as the client has put it together.
type saidLine struct {
	Error   string `json:"error"`
	Message struct {
		ID         string           `json:"id"`
		Model      string           `json:"model"`
		StopReason string           `json:"stop_reason"`
		Usage      anthropic.Tokens `json:"usage"`
		Content    []textBlock      `json:"content"`
	} `json:"message"`
}

// said takes the client's word for what went wrong, and a message that did not come as a stream.
func (a *answer) said(l saidLine) {
	switch m := l.Message; {
	case m.Model == "<synthetic>" || l.Error != "":
		a.problem = l.Error
	case m.ID != a.last.id:
		a.last = message{id: m.ID, model: m.Model, stop: m.StopReason}
		a.spent.beginMessage()
		a.spent.countMessage(m.Usage)
		for _, block := range m.Content {
			if block.Type == "text" && !a.last.add(block.Text) {
				a.decide(events.FailTruncated, 0, "the answer is too long")
			}
		}
	}
}

// goesOn is the client asking the model something by itself: to go on where an answer was cut. A turn has one question.
func (a *answer) goesOn() {
	if !a.last.whole() {
		a.decide(events.FailTransport, 0, cutMessage)
	}
}

const cutMessage = "the answer was cut before its end"

// limitLine tells of a subscription's limits.
type limitLine struct {
	Info struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"` // seconds since 1970
	} `json:"rate_limit_info"`
}

func (a *answer) limited(l limitLine) {
	if l.Info.Status == "rejected" && l.Info.ResetsAt > 0 && l.Info.ResetsAt < maxEpoch {
		a.resets = time.Unix(int64(l.Info.ResetsAt), 0).UTC()
	}
}

// maxEpoch is the year 2200: a reset beyond it is no time.
const maxEpoch = 7_258_118_400

// resultLine is the last line of a child.
type resultLine struct {
	IsError    bool             `json:"is_error"`
	Status     int              `json:"api_error_status"`
	StopReason string           `json:"stop_reason"`
	Terminal   string           `json:"terminal_reason"`
	Cost       float64          `json:"total_cost_usd"`
	Usage      anthropic.Tokens `json:"usage"`
}

func (a *answer) ended(l resultLine) {
	a.result = &l
	a.finished()
}

// decide settles the turn as failed and ends the child.
func (a *answer) decide(class events.FailureClass, status int, message string) {
	if a.verdict == nil {
		a.verdict = a.failure(class, status, message)
		a.stop()
	}
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
