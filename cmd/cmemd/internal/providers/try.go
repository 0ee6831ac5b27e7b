package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/claudecli"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/internal/observer/turn"
	"github.com/cmemd/cmemd/internal/setting"
)

// A trial is one turn outside of any session.
type trial struct {
	Provider    string        `json:"provider"`
	Model       string        `json:"model"`
	AnsweredBy  string        `json:"answered_by,omitempty"` // what says that it answered
	Mode        string        `json:"mode"`
	Key         string        `json:"key_from,omitempty"`
	Calls       int           `json:"calls"`        // requests that were sent, with those that were sent again
	PromptBytes int           `json:"prompt_bytes"` // of the last question; where a model is not asked, of what was captured
	Form        events.Form   `json:"form,omitempty"`
	TookMS      int64         `json:"took_ms"`
	StopReason  string        `json:"stop_reason,omitempty"`
	Usage       events.Usage  `json:"usage"`
	CostUSD     *float64      `json:"cost_usd"`            // null: not known
	CostFrom    string        `json:"cost_from,omitempty"` // costStated, costListed or costBoth
	Output      events.Output `json:"output"`

	Parsed  *observer.Parsed `json:"parsed,omitempty"`
	Failure *trialFailure    `json:"failure,omitempty"`

	key    string
	now    time.Time
	prices config.Prices
}

// Where a cost comes from.
const (
	costStated = "provider"
	costListed = "prices"
	costBoth   = "provider and prices" // it stated it of some of the calls
)

// A trialFailure is why there is no answer.
type trialFailure struct {
	Class    events.FailureClass `json:"class"`
	Status   int                 `json:"status,omitempty"`
	ResetsAt *time.Time          `json:"resets_at,omitempty"`
	Message  string              `json:"message"`
	Next     string              `json:"do"`
}

// countQuestion counts a question on its way.
func (t *trial) countQuestion(q model.Question) {
	t.Calls++
	t.PromptBytes = len(q.System) + len(q.User) + len(q.Schema)
}

// ask has p observe the bundled batch.
func (t *trial) ask(ctx context.Context, p *Built, limit time.Duration) {
	sample := samplePrompt(t.now)
	t.PromptBytes = sample.Size()
	if p.Key != nil {
		t.Key = p.Key.String()
	}
	began := time.Now()
	reply, err := turn.Ask(ctx, p, sample, limit+time.Second) // a provider that asks a model keeps limit itself
	t.TookMS = time.Since(began).Milliseconds()
	if err != nil {
		t.fail(err)
		return
	}
	t.AnsweredBy, t.Form, t.StopReason, t.Usage, t.Output = reply.Model, reply.Form, reply.StopReason, reply.Usage, reply.Text
	t.count(reply.Bill)
	t.Calls = max(t.Calls, reply.Calls)
	parsed := observer.ParseForm(reply.Form, reply.Text, sample.Kind, p.Mode.TypeIDs())
	t.Parsed = &parsed
}

// count says what the turn cost: what the provider stated, and what the tokens of which it stated nothing cost by the list.
func (t *trial) count(b events.Bill) {
	if b.UncostedUsage() == (events.Usage{}) {
		if b.Stated() {
			t.CostUSD, t.CostFrom = &b.Cost, costStated
		}
		return
	}
	usd, ok := t.prices.UncostedUSD(t.Provider, t.Model, b)
	if !ok {
		return
	}
	usd += b.Cost
	t.CostUSD, t.CostFrom = &usd, costListed
	if b.Stated() {
		t.CostFrom = costBoth
	}
}

// fail says why there is no answer, and what to do about it.
func (t *trial) fail(err error) {
	f, typed := errors.AsType[*observer.Failure](err)
	if !typed {
		f = &observer.Failure{Class: events.FailCrash, Message: err.Error()}
	}
	t.AnsweredBy, t.Form, t.Usage, t.Output = f.Model, f.Form, f.Usage, f.Output
	t.count(f.Bill)
	t.Calls = max(t.Calls, f.Calls)
	t.Failure = &trialFailure{Class: f.Class, Status: f.Status, Message: f.Message, Next: t.remedy(f)}
	if !f.ResetsAt.IsZero() {
		t.Failure.ResetsAt = &f.ResetsAt
	}
}

// remedy is what a person can do about a failure of its class.
func (t *trial) remedy(f *observer.Failure) string {
	cli := t.Provider == claudecli.Name
	switch f.Class {
	case events.FailAuth:
		if cli {
			return "log in: run `claude` once and say /login there"
		}
		return fmt.Sprintf("set the key: the service refuses the one from %s", t.key)
	case events.FailBilling:
		return "see to the account's payment, or choose another provider"
	case events.FailSetup:
		if cli {
			return "install Claude Code or update it, or set claude_cli_path and claude_cli_model to what there is"
		}
		return fmt.Sprintf("correct the settings of %s: the model, the URL or the key", t.Provider)
	case events.FailLimit, events.FailOverload:
		if !f.ResetsAt.IsZero() {
			return fmt.Sprintf("wait until %s, or choose another model", terminal.Moment(f.ResetsAt))
		}
		return "wait a while, or choose another model"
	case events.FailServer, events.FailTransport, events.FailUnknown:
		return "try again; see whether the service is up and can be reached from here"
	case events.FailTimeout:
		return "try again, choose a faster model, or raise turn_timeout"
	case events.FailRefused, events.FailOverflow:
		return "choose another model: this one does not take what it is asked"
	case events.FailTruncated:
		return "raise max_output_tokens, or choose another model"
	}
	return "try again; if it stays so, choose another provider"
}

// errNoMemory is a turn that came to nothing.
var errNoMemory = errors.New("the observer's answer cannot be read")

// Err is nil if the answer was one: an observation, or that there is nothing to record.
func (t *trial) Err() error {
	switch {
	case t.Failure != nil:
		return terminal.Advise(fmt.Errorf("%s failed: %s: %s", t.Provider, t.Failure.Class, t.Failure.Message), "%s", t.Failure.Next)
	case t.Parsed.Disposition == observer.DispositionDropped:
		return terminal.Advise(fmt.Errorf("%w: %s/%s", errNoMemory, t.Parsed.Class, t.Parsed.Reason), "choose another model: this one does not keep to the form")
	}
	return nil
}

// showTries shows what came of asking several, a line each, and then what mends those that failed.
func showTries(a *terminal.App, all []*trial) {
	l := terminal.List{Head: []string{"PROVIDER", "PROMPT", "TOOK", "CALLS", "TOKENS", "COST", "OUTPUT", "PARSED"}}
	for _, t := range all {
		cost := ""
		if t.Usage != (events.Usage{}) || t.CostUSD != nil {
			cost = t.costCell()
		}
		l.Add(terminal.NameOfModel(t.Provider, t.Model), terminal.Size(int64(t.PromptBytes)), t.took().String(), fmt.Sprint(t.Calls),
			fmt.Sprint(t.Usage.Input+t.Usage.Output), cost, terminal.Size(int64(t.Output.Len())), t.resultCell())
	}
	a.Print(l)
	for _, t := range all {
		if bad := t.Err(); bad != nil {
			a.Infof("%s\n  next: %s", terminal.VisibleLine(terminal.Describe(bad)), terminal.VisibleLine(terminal.NextStep(bad)))
		}
	}
}

func (t *trial) took() time.Duration { return time.Duration(t.TookMS) * time.Millisecond }

func (t *trial) costCell() string {
	if t.CostUSD == nil {
		return "?"
	}
	return terminal.Dollars(*t.CostUSD)
}

// resultCell is what came of a try in a word or two.
func (t *trial) resultCell() string {
	if t.Failure != nil {
		return "failed: " + string(t.Failure.Class)
	}
	if t.Parsed.Disposition == observer.DispositionObservations {
		return number.Plural(len(t.Parsed.Observations), "observation")
	}
	return fmt.Sprintf("%s: %s/%s", t.Parsed.Disposition, t.Parsed.Class, t.Parsed.Reason)
}

func showTry(a *terminal.App, t *trial) {
	a.Field("provider", strings.TrimSpace(t.Provider+" "+t.Model))
	if t.AnsweredBy != "" && t.AnsweredBy != t.Model {
		a.Field("answered by", t.AnsweredBy)
	}
	a.Field("mode", t.Mode)
	a.Field("key", t.Key)
	a.Field("prompt", fmt.Sprintf("%d bytes", t.PromptBytes))
	if t.Calls > 0 {
		a.Field("calls", fmt.Sprint(t.Calls))
	}
	a.Field("took", t.took().String())
	if t.Usage != (events.Usage{}) {
		a.Field("tokens", fmt.Sprintf("%d in (%d of them cached), %d out", t.Usage.Input, t.Usage.Cached, t.Usage.Output))
		a.Field("cost", t.costLine())
	}
	a.Field("form", string(t.Form))
	a.Field("output", t.Output.RawText())
	if p := t.Parsed; p != nil {
		a.Field("parsed", fmt.Sprintf("%s (%s/%s), %s", p.Disposition, p.Class, p.Reason, number.Plural(len(p.Observations), "observation")))
		for _, o := range p.Observations {
			a.Field("", terminal.VisibleLine(strings.TrimSpace(o.Type+": "+o.Title)))
		}
	}
}

func (t *trial) costLine() string {
	switch t.CostFrom {
	case costStated:
		return fmt.Sprintf("$%.6f, as the provider says", *t.CostUSD)
	case costListed:
		return fmt.Sprintf("$%.6f, by the list of prices", *t.CostUSD)
	case costBoth:
		return fmt.Sprintf("$%.6f, as the provider says and, of the rest, by the list of prices", *t.CostUSD)
	}
	return "not known: no price of this model is listed"
}

// Try asks a provider once. An error says that there is nobody to ask, or that ctx is done.
func Try(ctx context.Context, a *terminal.App, l *config.Loaded, who setting.Asked) (*trial, error) {
	ps, err := config.LoadPrices(l.Home)
	if err != nil {
		return nil, err
	}
	runs, err := os.MkdirTemp("", "cmemd-observer-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(runs)
	t := &trial{Provider: who.Name, now: a.Now(), prices: ps}
	b := Builder{Settings: l, Runs: runs, onQuestion: t.countQuestion}
	p, err := b.Make(who)
	if err != nil {
		return nil, terminal.Advise(err, "`cmemd config show --all` lists the settings, and what they may be")
	}
	t.Mode, t.Model, t.key = p.Mode.ID, p.Model(), p.Key.String()
	t.ask(ctx, p, l.TurnTimeout)
	return t, errors.Join(ctx.Err(), p.Close())
}
