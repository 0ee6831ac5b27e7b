package providertest

import (
	"context"
	"fmt"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// captured is what every captured text of a budget's prompt is made of; no other text of a question holds it.
const captured = "zqzq"

// greedy is a prompt with far more captured text than any budget of the suite.
func greedy(kind events.TurnKind, budget int) observer.Prompt {
	text := strings.Repeat(captured+" ", 40<<10)
	p := filled(text)
	p.Kind, p.Budget, p.Project, p.Cwd, p.Agent, p.Stop = kind, budget, "shop", "/src/shop", "claude-code", events.StopDone
	for i, in := range p.Inputs {
		if t, ok := in.Event.(events.ToolUsed); ok {
			t.Tool, t.Cwd, t.SubagentID, t.SubagentType = "Bash", "/src/shop", "", ""
			p.Inputs[i].Event = t
		}
	}
	return p
}

// checkAnyBudget: a prompt is answered whatever its budget.
func checkAnyBudget(ctx context.Context, p observer.Provider, _ Options) error {
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		for _, budget := range []int{1, 100, 16_000} {
			if err := checkOutcome(complete(ctx, p, greedy(kind, budget))); err != nil {
				return fmt.Errorf("%s turn, budget %d: %w", kind, budget, err)
			}
		}
	}
	return nil
}

// Budget checks that p sends no more of the captured text of a prompt than the prompt's budget, and of one without a budget
// what it likes, which is more. Sent is the last question that p sent, as it went out.
func Budget(ctx context.Context, p observer.Provider, sent func() string) error {
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		before := 0
		for _, budget := range []int{1, 100, 4_000, 16_000, 0} {
			if err := checkOutcome(complete(ctx, p, greedy(kind, budget))); err != nil {
				return fmt.Errorf("%s turn, budget %d: %w", kind, budget, err)
			}
			n := len(captured) * strings.Count(sent(), captured)
			if budget > 0 && n > budget {
				return fmt.Errorf("%s turn, budget %d: %d bytes of captured text were sent", kind, budget, n)
			}
			if n < before || n == 0 && (budget == 0 || budget >= 4_000) {
				return fmt.Errorf("%s turn, budget %d: %d bytes of captured text were sent, and %d with less", kind, budget, n, before)
			}
			before = n
		}
	}
	return nil
}
