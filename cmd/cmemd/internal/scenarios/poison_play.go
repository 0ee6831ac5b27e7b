package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/number"
	"github.com/cmemd/cmemd/internal/replay"
	"github.com/cmemd/cmemd/internal/sleep"
)

// batch is what the agent does at one moment of a scene.
type batch struct {
	at     time.Duration
	inputs int
}

// idleExits is how many ends of an observer, in a scenario that has nothing to do for it then, go by until the agent of the
// demo does something: an observer that is not asked cannot crash.
const idleExits = 5

// batches is when the agent works: where the scenario has inputs, and now and then while its observer dies.
func (p *poisonRun) batches() []batch {
	var all []batch
	exits := 0
	for _, e := range p.scenario.Events {
		b := batch{scaled(e.AtMS, p.scene.factor), e.Batch}
		if e.Kind == replay.KindExit {
			if exits%idleExits == 0 {
				b.inputs = 1
			}
			exits++
		}
		if b.inputs > 0 {
			all = append(all, b)
		}
	}
	return all
}

// feed has the agent work as it did, at the scene's speed.
func (p *poisonRun) feed(ctx context.Context) error {
	p.announce("the agent works: %s in %s", number.Plural(p.inputs(), "tool use"), scaled(p.scenario.EndMS, p.scene.factor).Round(100*time.Millisecond))
	began := p.a.Now()
	for _, b := range p.batches() {
		if err := sleep.For(ctx, b.at-p.a.Now().Sub(began)); err != nil {
			return err
		}
		for range b.inputs {
			if err := p.use(ctx); err != nil {
				return err
			}
		}
		if !p.scene.lockstep {
			continue
		}
		if err := p.until(ctx, demoWait, "an input to be settled", func() bool { return p.allSettled(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

func (p *poisonRun) inputs() (n int) {
	for _, b := range p.batches() {
		n += b.inputs
	}
	return n
}

// use reports one tool use, as the hook does.
func (p *poisonRun) use(ctx context.Context) error {
	p.account.Sent++
	file := filepath.Join(p.project, fmt.Sprintf("file%d.go", p.account.Sent))
	payload, err := json.Marshal(map[string]any{
		"session_id": "00000000-0000-4000-8000-00000000d003", "cwd": p.project, "hook_event_name": "PostToolUse",
		"tool_name": "Edit", "tool_use_id": fmt.Sprintf("toolu_%d", p.account.Sent),
		"tool_input":    map[string]any{"file_path": file, "old_string": "a", "new_string": "b"},
		"tool_response": map[string]any{"filePath": file},
	})
	if err != nil {
		return err
	}
	_, err = p.client.Hook(ctx, "claude-code", payload, uuid.Must(uuid.NewV7()), p.a.Now())
	return err
}

// allSettled reports whether all that was sent is settled, nothing is held back, and notes the balance.
func (p *poisonRun) allSettled(ctx context.Context) bool {
	st, err := api.StatusRoute.Call(ctx, p.client, api.NoQuery{})
	p.account.Final, p.endPosition = st.Inputs, st.Position
	return err == nil && st.Inputs.Captured == p.account.Sent && st.Inputs.Pending == 0 && st.Inputs.Reobserve == 0 &&
		len(st.Held) == 0 && len(st.Pauses) == 0
}

// rest waits until the trouble is over and all is settled.
func (p *poisonRun) rest(ctx context.Context) error {
	err := p.until(ctx, demoWait, "the trouble to be over", func() bool { return p.allSettled(ctx) })
	p.account.Played = p.account.Final
	if err != nil {
		return fmt.Errorf("%w: %s", err, terminal.BalanceLine(p.account.Played))
	}
	p.printDetail("%s", terminal.BalanceLine(p.account.Played))
	return nil
}

// reobserveDropped has what was dropped observed again: it was kept.
func (p *poisonRun) reobserveDropped(ctx context.Context) error {
	if p.account.Played.Dropped == 0 {
		return nil
	}
	before := p.endPosition
	asked, err := api.ReobserveRoute.Call(ctx, p.client, api.ReobserveRequest{Dropped: true, Wait: true}, nil)
	if err != nil {
		return err
	}
	p.account.Again = asked.Inputs
	err = p.until(ctx, demoWait, "what was dropped to be observed again", func() bool { return p.allSettled(ctx) })
	p.endPosition = before
	p.announce("cmemd reobserve --dropped: %s asked for again", number.Plural(asked.Inputs, "input"))
	p.printDetail("%s", terminal.BalanceLine(p.account.Final))
	return err
}

// audit ends the daemon, and reads its log without it: the chains, the balance from the raw events, each decision derived
// again from what was known then, and what happened.
func (p *poisonRun) audit(ctx context.Context) error {
	if err := p.client.Stop(ctx); err != nil {
		return err
	}
	_ = p.daemon.Wait() // it was asked to end
	p.daemon = nil
	log, err := eventlog.OpenReadOnly(homedir.PathsOf(p.home).Log, eventlog.Config{})
	if err != nil {
		return err
	}
	defer log.Close()
	if err := eventlog.Verify(ctx, log, nil); err != nil {
		return err
	}
	accounts, err := replay.Audit(ctx, log.All(ctx, 0))
	if err != nil {
		return err
	}
	proof, err := replay.Prove(log.All(ctx, 0), replay.Selection{}, nil)
	if err != nil {
		return err
	}
	p.account.Discrepancies = len(accounts.Discrepancies)
	p.account.Decisions, _ = proof.Checked()
	p.account.Unexplained = len(proof.Differences)
	for _, d := range proof.Differences {
		p.account.Unlike = append(p.account.Unlike, fmt.Sprintf("%d %s: %s", d.Position, d.Kind, d.Why))
	}
	return p.tally(ctx, log)
}

// tally counts what happened until the scene was over.
func (p *poisonRun) tally(ctx context.Context, log eventlog.Log) error {
	a := &p.account
	for r, err := range log.All(ctx, 0) {
		if err != nil {
			return err
		}
		a.Records++
		if r.Position > p.endPosition {
			continue
		}
		e, err := r.Event()
		if err != nil && !errors.Is(err, events.ErrErased) {
			return err
		}
		a.count(e)
	}
	return nil
}

func (a *account) count(e events.Event) {
	switch e := e.(type) {
	case events.TurnStarted:
		a.Calls++
	case events.TurnFailed:
		switch {
		case e.Class == events.FailCrash:
			a.Crashes++
		case e.Class.BlamesProvider():
			a.Failures++
		}
	case events.SessionRespawned:
		a.Respawns = append(a.Respawns, e.Cause)
	case events.SessionQuarantined:
		a.Quarantines = append(a.Quarantines, e.Cause)
	case events.SessionReleased:
		a.Releases = append(a.Releases, e.By)
	case events.ProviderPaused:
		a.Pauses = append(a.Pauses, e.Probe)
	case events.ProviderResumed:
		a.Resumes++
	case events.InputsDropped:
		a.GivenUp += len(e.Inputs)
	}
}
