package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/session"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// daemon is the real actors over a log in memory, inside a synctest bubble: what they decide has to be proved.
type daemon struct {
	t        *testing.T
	log      *eventlog.Memory
	provider *providertest.Scripted
	sys      *actors.System
	kill     func()
	keys     int
}

// TestProveOfRealLogs has the real actors write logs, in which each kind of trouble occurs, and proves them whole.
func TestProveOfRealLogs(t *testing.T) {
	t.Parallel()
	good := func(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
		if p.Kind == events.TurnSummary {
			return observer.Reply{Text: summarized, Usage: events.Usage{Input: 1200, Output: 30}}, nil
		}
		return observer.Reply{Text: observed, Usage: events.Usage{Input: 1200, Output: 30}}, nil
	}
	crash := providertest.Crash(errors.New("boom"))
	fails := func(f observer.Failure) providertest.Step { return providertest.Fail(f) }
	poisoned := func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		for _, in := range p.Inputs {
			if tool, ok := in.Event.(events.ToolUsed); ok && strings.Contains(tool.Input, "poison") {
				return observer.Reply{}, errors.New("boom")
			}
		}
		return good(ctx, call, p)
	}
	mixed := func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		step := []providertest.Step{
			good, fails(observer.Failure{Class: events.FailServer}), good, crash, fails(observer.Failure{Class: events.FailRefused}),
			fails(observer.Failure{Class: events.FailAuth}), providertest.Text(prose), fails(observer.Failure{Class: events.FailTimeout}),
		}[call*call%31%8]
		return providertest.After(time.Duration(call*137%700)*time.Millisecond, step)(ctx, call, p)
	}
	for name, c := range map[string]struct {
		settings map[string]string
		steps    []providertest.Step
		want     []string // decisions that must be among those proved
		play     func(d *daemon)
	}{
		"good answers": {nil, []providertest.Step{good}, []string{ProvedTurn, ProvedAnswer, ProvedGrammar, ProvedCapture}, func(d *daemon) {
			for _, s := range []string{"a", "b", "c"} {
				d.work(s, 25)
				d.stop(s)
			}
		}},
		"two crashes": {nil, []providertest.Step{crash, providertest.Panic("no"), good}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 4)
			d.stop("a")
		}},
		"a crash loop": {map[string]string{"max_consecutive": "3", "quarantine_first": "30s", "restart_delay": "100ms"},
			[]providertest.Step{crash, crash, crash, crash, crash, crash, good}, []string{ProvedFailure}, func(d *daemon) {
				d.work("a", 4)
				d.stop("a")
			}},
		"a poisoned batch": {map[string]string{"max_attempts": "2"}, []providertest.Step{poisoned}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 3)
			d.capture("a", events.ToolUsed{Tool: "Read", Input: "poison"})
			d.work("a", 3)
			d.stop("a")
		}},
		"a provider that fails": {map[string]string{"pause_first": "10s"}, []providertest.Step{
			good, fails(observer.Failure{Class: events.FailServer}), fails(observer.Failure{Class: events.FailOverload}),
			fails(observer.Failure{Class: events.FailLimit, ResetsAt: time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)}), good,
		}, []string{ProvedPause, ProvedResume}, func(d *daemon) {
			for _, s := range []string{"a", "b", "c"} {
				d.work(s, 3)
				d.stop(s)
			}
		}},
		"everything at once": {map[string]string{"pause_first": "1s", "pause_max": "3s"}, []providertest.Step{mixed},
			[]string{ProvedPause, ProvedResume, ProvedFailure, ProvedAnswer}, func(d *daemon) {
				for range 20 {
					for _, s := range []string{"a", "b", "c", "d", "e", "f"} {
						d.work(s, 2)
						d.stop(s)
					}
					time.Sleep(time.Second)
				}
			}},
		"turns that are too long": {nil, []providertest.Step{
			fails(observer.Failure{Class: events.FailOverflow}), fails(observer.Failure{Class: events.FailTruncated}),
			fails(observer.Failure{Class: events.FailRefused}), good,
		}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 5)
			d.stop("a")
		}},
		"outputs that do not parse": {map[string]string{"policy": "supervised"}, []providertest.Step{providertest.Text(prose)},
			[]string{ProvedAnswer, ProvedReobserve}, func(d *daemon) {
				for range 8 {
					d.work("a", 1)
					d.stop("a")
					time.Sleep(5 * time.Second)
				}
				d.do("a", session.Reobserve{ID: uuid.Must(uuid.NewV7()), At: time.Now(), Inputs: []events.Position{3, 4, 5}})
			}},
		"a hold without an end": {map[string]string{"held_max_age": "1h", "held_max_inputs": "100"}, []providertest.Step{
			fails(observer.Failure{Class: events.FailLimit, ResetsAt: time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC)}), good,
		}, []string{ProvedExpiry}, func(d *daemon) {
			d.work("a", 3)
			d.stop("a")
			d.work("b", 150)
			d.stop("b")
			time.Sleep(3 * time.Hour)
		}},
		"lives": {nil, []providertest.Step{providertest.Hang()}, []string{ProvedInterruption}, func(d *daemon) {
			d.work("a", 3)
			d.stop("a")
			time.Sleep(time.Second)
			d.end(true)
			d.begin(map[string]string{"max_attempts": "2", "restart_delay": "1s"})
			time.Sleep(time.Second)
			d.end(false)
			d.begin(map[string]string{"max_attempts": "1"})
			time.Sleep(time.Second)
			d.end(false)
			d.begin(nil)
		}},
		"silence": {nil, []providertest.Step{good}, []string{ProvedTick}, func(d *daemon) {
			d.capture("a", events.PromptSubmitted{Text: "go"})
			d.work("a", 3)
			time.Sleep(30 * time.Hour)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &daemon{t: t, log: eventlog.NewMemory(eventlog.Config{}), provider: providertest.NewScripted(c.steps...)}
				d.begin(c.settings)
				c.play(d)
				time.Sleep(6 * time.Hour)
				d.end(true)
				d.check(c.want)
				time.Sleep(2 * time.Second) // the actor library's own timers
			})
		})
	}
}

// begin starts a life under settings.
func (d *daemon) begin(settings map[string]string) {
	d.t.Helper()
	if settings == nil {
		settings = map[string]string{}
	}
	settings["slots"] = "2"
	previous, err := actors.Begin(d.t.Context(), d.log, d.draft(events.DaemonStarted{Version: "test", Settings: settings}))
	if err != nil {
		d.t.Fatal(err)
	}
	rules, pause, slots := RulesInForce(settings)
	d.sys, err = actors.New(actors.Config{
		Log: d.log, Provider: d.provider, Rules: rules, Pause: pause, Slots: slots, Previous: previous,
		Owing: d.owing,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	sys := d.sys
	go func() { done <- sys.Run(ctx, ready) }()
	<-ready
	d.kill = func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	}
}

// owing wakes all sessions.
func (d *daemon) owing(ctx context.Context) (ids []events.SessionID, err error) {
	for r, err := range d.log.All(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if id, ok := r.Stream.Session(); ok && r.Version == 1 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// end ends a life, in order or as a crash does.
func (d *daemon) end(clean bool) {
	d.t.Helper()
	d.kill()
	if clean {
		if _, err := eventlog.AppendEnd(context.Background(), d.log, events.Daemon, d.draft(events.DaemonStopped{Clean: true})); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *daemon) draft(e events.Event) events.Draft {
	return events.Draft{ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: e}
}

func (d *daemon) capture(name string, e events.Event) {
	d.t.Helper()
	d.keys++
	d.do(name, session.Capture{
		ID: uuid.Must(uuid.NewV7()), Key: events.KeyOf(fmt.Sprint(d.keys)), At: time.Now(), Origin: originOf(name), Event: e,
	})
}

func (d *daemon) do(name string, cmd session.Command) {
	d.t.Helper()
	if _, err := d.sys.Do(context.Background(), sessionOf(name), cmd); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) work(name string, n int) {
	d.t.Helper()
	for i := range n {
		d.capture(name, events.ToolUsed{Tool: "Edit", Input: fmt.Sprintf(`{"file_path":"/p/%d.go"}`, i)})
	}
}

func (d *daemon) stop(name string) {
	d.t.Helper()
	d.capture(name, events.AgentStopped{Cause: events.StopDone})
}

// check proves the log whole, and looks for decisions that must be in it.
func (d *daemon) check(want []string) {
	d.t.Helper()
	p := prove(d.t, d.log, Selection{})
	explained(d.t, p)
	counts := map[string]int{}
	for _, c := range p.Decisions {
		counts[c.Decision] = c.Checked
	}
	for _, w := range want {
		if counts[w] == 0 {
			d.t.Errorf("no %s in the log: %v", w, counts)
		}
	}
	a, err := Audit(d.t.Context(), d.log.All(d.t.Context(), 1))
	if err != nil || len(a.Discrepancies) > 0 {
		d.t.Errorf("the balance: %v, %s", err, shown(a))
	}
	d.t.Logf("%v, %+v", counts, a.Balance)
}
