package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// daemon is the real actors over a log inside a synctest bubble: what they decide has to be proved.
type daemon struct {
	t        *testing.T
	log      *eventlog.Bolt
	provider *providertest.Scripted
	second   *providertest.Scripted // asked where provider rests; nil: there is none
	sys      *actors.System
	kill     func()
	keys     int
}

// trouble is what a log is to have in it.
type trouble struct {
	settings map[string]string // with fallbacks: there is a second provider of that name, which behaves as the first
	steps    []providertest.Step
	want     []string // decisions that must be among those proved
	play     func(d *daemon)
}

// TestProveOfRealLogs has the real actors write logs, in which each kind of trouble occurs, and proves them whole.
func TestProveOfRealLogs(t *testing.T) {
	t.Parallel()
	for _, troubles := range []map[string]trouble{troublesOfObservers(), troublesOfProviders(), troublesOfTime()} {
		for name, c := range troubles {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, c.prove)
			})
		}
	}
}

func (c trouble) prove(t *testing.T) {
	d := &daemon{t: t, log: logtest.Open(t, eventlog.Config{}), provider: providertest.NewScripted(c.steps...)}
	if name := c.settings["fallbacks"]; name != "" {
		d.second = providertest.NewScripted(c.steps...)
		d.second.Called = name
	}
	d.begin(c.settings)
	c.play(d)
	time.Sleep(6 * time.Hour)
	d.end(true)
	d.check(c.want)
	time.Sleep(2 * time.Second) // the actor library's own timers
}

// good answers each kind of turn as asked.
func good(_ context.Context, _ int, p observer.Prompt) (observer.Reply, error) {
	text := observed
	if p.Kind == events.TurnSummary {
		text = summarized
	}
	return observer.Reply{Text: events.NewOutput(text), Bill: events.Bill{Usage: events.Usage{Input: 1200, Output: 30}}}, nil
}

func crash() providertest.Step { return providertest.Crash(errors.New("boom")) }

func fails(class events.FailureClass, resetsAt time.Time) providertest.Step {
	return providertest.Fail(observer.Failure{Class: class, ResetsAt: resetsAt})
}

// poisoned crashes on every batch with a certain input in it.
func poisoned(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
	for _, in := range p.Inputs {
		if tool, ok := in.Event.(events.ToolUsed); ok && strings.Contains(tool.Input, "poison") {
			return observer.Reply{}, errors.New("boom")
		}
	}
	return good(ctx, call, p)
}

// refusesPoison refuses every batch with a certain input in it.
func refusesPoison(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
	if _, err := poisoned(ctx, call, p); err != nil {
		return fails(events.FailRefused, time.Time{})(ctx, call, p)
	}
	return good(ctx, call, p)
}

// wellAfter takes step until d has passed since its first call, and answers well from then on.
func wellAfter(d time.Duration, step providertest.Step) providertest.Step {
	var first atomic.Int64
	return func(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
		now := time.Now().UnixNano()
		first.CompareAndSwap(0, now)
		if time.Duration(now-first.Load()) < d {
			return step(ctx, call, p)
		}
		return good(ctx, call, p)
	}
}

// unreadable answers in prose, and now and then not at all.
func unreadable(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
	text := prose
	if call%3 == 2 {
		text = " "
	}
	return providertest.Text(text)(ctx, call, p)
}

// mixed answers, fails and crashes, each call after a while of its own.
func mixed(ctx context.Context, call int, p observer.Prompt) (observer.Reply, error) {
	step := []providertest.Step{
		good, fails(events.FailServer, time.Time{}), good, crash(), fails(events.FailRefused, time.Time{}),
		fails(events.FailAuth, time.Time{}), providertest.Text(prose), fails(events.FailTimeout, time.Time{}),
	}[call*call%31%8]
	return providertest.After(time.Duration(call*137%700)*time.Millisecond, step)(ctx, call, p)
}

func troublesOfObservers() map[string]trouble {
	return map[string]trouble{
		"good answers": {nil, []providertest.Step{good}, []string{ProvedTurn, ProvedAnswer, ProvedGrammar, ProvedCapture}, func(d *daemon) {
			for _, s := range []string{"a", "b", "c"} {
				d.work(s, 25)
				d.stop(s)
			}
		}},
		"two crashes": {nil, []providertest.Step{crash(), providertest.Panic("no"), good}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 4)
			d.stop("a")
		}},
		"a crash loop": {map[string]string{"max_consecutive": "3", "quarantine_first": "30s", "restart_delay": "100ms"},
			[]providertest.Step{crash(), crash(), crash(), crash(), crash(), crash(), good}, []string{ProvedFailure}, func(d *daemon) {
				d.work("a", 4)
				d.stop("a")
			}},
		"a poisoned batch": {map[string]string{"max_attempts": "2"}, []providertest.Step{poisoned}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 3)
			d.capture("a", events.ToolUsed{Tool: "Read", Input: "poison"})
			d.work("a", 3)
			d.stop("a")
		}},
	}
}

func troublesOfProviders() map[string]trouble {
	return map[string]trouble{
		"a provider that fails": {map[string]string{"pause_first": "10s"}, []providertest.Step{
			good, fails(events.FailServer, time.Time{}), fails(events.FailOverload, time.Time{}),
			fails(events.FailLimit, time.Date(2000, 1, 1, 5, 0, 0, 0, time.UTC)), good,
		}, []string{ProvedPause, ProvedResume}, func(d *daemon) {
			for _, s := range []string{"a", "b", "c"} {
				d.work(s, 3)
				d.stop(s)
			}
		}},
		"a provider that refuses everything for hours": {map[string]string{"pause_first": "10s"}, []providertest.Step{wellAfter(3*time.Hour, fails(events.FailRefused, time.Time{}))},
			[]string{ProvedPause, ProvedResume, ProvedFailure}, func(d *daemon) {
				for range 6 {
					for _, s := range []string{"a", "b", "c"} {
						d.work(s, 3)
						d.stop(s)
					}
					time.Sleep(time.Hour)
				}
				if drops := d.dropped(); drops != 0 {
					d.t.Errorf("%d inputs given up", drops)
				}
			}},
		"a provider that nobody can read for hours": {map[string]string{"no_yield_max": "3", "pause_first": "10s"},
			[]providertest.Step{wellAfter(3*time.Hour, unreadable)}, []string{ProvedPause, ProvedResume, ProvedAnswer}, func(d *daemon) {
				for range 6 {
					for _, s := range []string{"a", "b", "c"} {
						d.work(s, 3)
						d.stop(s)
					}
					time.Sleep(time.Hour)
					d.end(false)
					d.begin(map[string]string{"no_yield_max": "3", "pause_first": "10s"})
				}
				if n := d.provider.Calls(); n > 40 {
					d.t.Errorf("asked %d times: it was not held back", n)
				}
			}},
		"one input that is refused": {nil, []providertest.Step{refusesPoison}, []string{ProvedPause, ProvedResume, ProvedFailure}, func(d *daemon) {
			d.capture("a", events.ToolUsed{Tool: "Read", Input: "poison"})
			d.stop("a")
			time.Sleep(5 * time.Minute)
			d.end(false)
			d.begin(nil)
			d.work("b", 3)
			d.stop("b")
			time.Sleep(time.Minute)
			if drops := d.dropped(); drops != 1 {
				d.t.Errorf("%d inputs given up, want the one that is refused", drops)
			}
		}},
		"two providers": {map[string]string{"pause_first": "5s", "pause_max": "20s", "policy": "supervised", "fallbacks": "second"},
			[]providertest.Step{mixed}, []string{ProvedPause, ProvedResume, ProvedFailure, ProvedAnswer}, func(d *daemon) {
				for i := range 20 {
					for _, s := range []string{"a", "b", "c", "d", "e", "f"} {
						d.work(s, 2)
						d.stop(s)
					}
					time.Sleep(time.Second)
					if i == 10 {
						d.end(false)
						d.begin(map[string]string{"pause_first": "5s"})
					}
				}
			}},
		"a budget": {map[string]string{policy.LimitTokensDay: "3000", "held_max_age": "1h", "held_max_inputs": "100"},
			[]providertest.Step{good}, []string{ProvedExpiry}, func(d *daemon) {
				for _, s := range []string{"a", "b", "c"} {
					d.work(s, 60)
					d.stop(s)
				}
				d.work("a", 150)
				time.Sleep(3 * time.Hour)
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
			fails(events.FailOverflow, time.Time{}), fails(events.FailTruncated, time.Time{}),
			fails(events.FailRefused, time.Time{}), good,
		}, []string{ProvedFailure}, func(d *daemon) {
			d.work("a", 5)
			d.stop("a")
		}},
	}
}

func troublesOfTime() map[string]trouble {
	return map[string]trouble{
		"outputs that do not parse": {map[string]string{"policy": "supervised"}, []providertest.Step{providertest.Text(prose)},
			[]string{ProvedAnswer, ProvedReobserve}, func(d *daemon) {
				for range 8 {
					d.work("a", 1)
					d.stop("a")
					time.Sleep(5 * time.Second)
				}
				d.do("a", session.Reobserve{ID: uuid.Must(uuid.NewV7()), At: time.Now(), Inputs: []events.Position{3, 4, 5}})
			}},
		"an end that cuts what was paid for": {nil, []providertest.Step{func(ctx context.Context, _ int, _ observer.Prompt) (observer.Reply, error) {
			<-ctx.Done()
			return observer.Reply{Bill: events.Bill{Usage: events.Usage{Input: 40_000}}}, ctx.Err()
		}, good}, []string{ProvedInterruption}, func(d *daemon) {
			d.work("a", 3)
			d.stop("a")
			time.Sleep(time.Second)
			d.end(true)
			d.begin(nil)
		}},
		"a hold without an end": {map[string]string{"held_max_age": "1h", "held_max_inputs": "100"}, []providertest.Step{
			fails(events.FailLimit, time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC)), good,
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
	}
}

// begin starts a life under settings.
func (d *daemon) begin(settings map[string]string) {
	d.t.Helper()
	if settings == nil {
		settings = map[string]string{}
	}
	settings["slots"], settings["provider"] = "2", d.provider.Name()
	if d.second != nil {
		settings["fallbacks"] = d.second.Name()
	}
	previous, err := actors.Begin(d.t.Context(), d.log, d.draft(events.DaemonStarted{Version: "test", Settings: settings, Rules: session.DefaultRules().Version}))
	if err != nil {
		d.t.Fatal(err)
	}
	v, _ := setting.Read(settings)
	cfg := actors.Config{
		Log: d.log, Providers: []actors.Route{{Provider: d.provider}}, Rules: v.Rules(), Pause: v.Pause, NoYield: v.NoYield, Slots: v.Slots, Previous: previous,
		Owing: d.owing, Spent: d.spent, Budget: v.Budget,
	}
	if d.second != nil {
		cfg.Providers = append(cfg.Providers, actors.Route{Provider: d.second})
	}
	d.sys, err = actors.New(cfg)
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

// spent adds up the tokens of a log in which no turn is older than a day.
func (d *daemon) spent(ctx context.Context, from time.Time, _ *events.SessionID) (tokens int64, _ float64, err error) {
	for r, err := range d.log.All(ctx, 1) {
		if err != nil {
			return 0, 0, err
		}
		if e, err := r.Event(); err == nil && !r.OccurredAt.Before(from) {
			received, _ := e.(events.TurnReceived)
			tokens += received.Usage.Input + received.Usage.Output
		}
	}
	return tokens, 0, nil
}

// dropped counts what was given up.
func (d *daemon) dropped() (n int) {
	d.t.Helper()
	for r, err := range d.log.All(context.Background(), 1) {
		if err != nil {
			d.t.Fatal(err)
		}
		e, _ := r.Event()
		given, _ := e.(events.InputsDropped)
		n += len(given.Inputs)
	}
	return n
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
