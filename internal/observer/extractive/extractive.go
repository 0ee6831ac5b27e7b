package extractive

import (
	"context"
	"strings"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// Name is the provider's name in streams and settings.
const Name = "extractive"

// model names the rules in records. It changes when equal prompts begin to get other answers.
const model = "rules-17"

// skipReason is stated where nothing was worth recording.
const skipReason = "no work to tell of"

// maxOutput bounds an output in bytes. One answer of an agent comes to a few thousand; what could pass it is a batch
// of nothing but compactions.
const maxOutput = 192 << 10

const (
	maxFacts     = 14   // of one observation, the most telling ones
	maxNarrative = 2400 // runes of a narrative, cut at a sentence
)

// Provider is the extractor. It holds no state and is safe for concurrent use.
type Provider struct{}

var _ observer.Provider = (*Provider)(nil)

// New returns an extractor.
func New() *Provider { return new(Provider) }

// Name returns the constant Name.
func (*Provider) Name() string { return Name }

// Model returns the version of the rules.
func (*Provider) Model() string { return model }

// BatchLimits returns policy.ExtractorLimits: whole answers of the agent.
func (*Provider) BatchLimits() policy.BatchLimits { return policy.ExtractorLimits() }

// Complete writes what p's inputs come to. Equal prompts give equal replies. The only error is ctx.Err().
func (p *Provider) Complete(ctx context.Context, prompt observer.Prompt) (observer.Reply, error) {
	if err := ctx.Err(); err != nil {
		return observer.Reply{}, err
	}
	var out []byte
	if prompt.Kind == events.TurnSummary {
		if s, ok := p.summarize(prompt); ok {
			out = s.AppendXML(out)
		}
	} else {
		list, err := p.observe(ctx, prompt)
		if err != nil {
			return observer.Reply{}, err
		}
		for _, o := range list {
			if next := o.AppendXML(out); len(next) <= maxOutput {
				out = next
			}
		}
	}
	if len(out) == 0 {
		out = append(out, strings.Replace(observer.SkipForm, "...", skipReason, 1)...)
	}
	return observer.Reply{Text: events.NewOutput(string(out)), Form: events.FormXML, Bill: events.Bill{CostStated: true}}, nil // it costs nothing, and reads no tokens
}
