package playback

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/testkit/providertest"
)

func play(t *testing.T, script string) *Provider {
	t.Helper()
	s, err := Read(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	return New(s)
}

func TestProvidersContract(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"text":    `{"text":"<observation><title>a</title></observation>","repeat":"forever"}`,
		"failure": `{"failure":{"class":"overload","status":529},"repeat":"forever"}`,
		"delay":   `{"text":"","delay_ms":1,"repeat":"forever"}`,
		"over":    `{"text":"once"}`,
		"rules":   `{"when":{"kind":"summary"},"text":"<summary><learned>b</learned></summary>"}` + "\n" + `{"when":{"contains":"cart.go"},"text":"c"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Run(t, func(t *testing.T) observer.Provider { return play(t, script) },
				providertest.Options{Deterministic: name != "over"})
		})
	}
}

// call asks once and says in a word what came back.
func call(ctx context.Context, p *Provider, q observer.Prompt) (said string) {
	defer func() {
		if v := recover(); v != nil {
			said = fmt.Sprint("panic ", v)
		}
	}()
	r, err := p.Complete(ctx, q)
	failure, typed := errors.AsType[*observer.Failure](err)
	switch {
	case typed:
		return "failed " + string(failure.Class)
	case err != nil:
		return "error " + err.Error()
	}
	return "said " + r.Text.RawText()
}

func observation(text string) observer.Prompt {
	return observer.Prompt{Kind: events.TurnObservation, Inputs: []observer.Input{
		{Event: nil}, {Event: events.ToolUsed{Input: "a", Output: text}},
	}}
}

func TestStepsAreTakenInOrderAndRulesAboveThem(t *testing.T) {
	t.Parallel()
	summary := observer.Prompt{Kind: events.TurnSummary, Inputs: []observer.Input{{Event: events.AgentStopped{LastMessage: "bad end"}}}}
	p := play(t, `{"when":{"contains":"bad"},"crash":"died of it"}
{"when":{"call":5},"panic":"the fifth"}
{"text":"one"}
{"when":{"kind":"summary"},"repeat":2,"text":"a summary"}
{"text":"two","repeat":2}
{"failure":{"class":"limit"}}
{"when":{"kind":"summary"},"text":"a late summary"}`)
	var got []string
	for _, q := range []observer.Prompt{
		observation("x"), observation("a bad file"), observation("x"), summary, observation("x"), {Kind: events.TurnSummary},
		observation("x"), {Kind: events.TurnSummary}, {Kind: events.TurnSummary}, {Kind: events.TurnSummary},
		observation("x"), observation("x"),
	} {
		got = append(got, call(t.Context(), p, q))
	}
	want := []string{
		"said one", "error died of it", "said two", "error died of it", "panic the fifth", "said a summary", "said two",
		"said a summary", "failed limit", "said a late summary", "failed setup", "failed setup",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestContainsLooksAtWhatWasCaptured(t *testing.T) {
	t.Parallel()
	for _, e := range []events.Event{
		events.ToolUsed{Input: "has poison in it"}, events.ToolUsed{Output: "poison"}, events.ContextCompacted{Summary: "of poison"},
		events.AgentStopped{LastMessage: "poison"},
	} {
		p := play(t, `{"when":{"contains":"poison"},"text":"found"}`)
		if got := call(t.Context(), p, observer.Prompt{Inputs: []observer.Input{{Event: e}}}); got != "said found" {
			t.Errorf("%T: got %q", e, got)
		}
	}
	p := play(t, `{"when":{"contains":"poison"},"text":"found"}`)
	if got := call(t.Context(), p, observer.Prompt{Request: "poison", Message: "poison", Recent: []string{"poison"}}); got != "failed setup" {
		t.Errorf("outside of the inputs: got %q", got)
	}
}

func TestRepliesAndFailuresAreWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := play(t, `{"text":"a","form":"structured","stop_reason":"max_tokens","usage":{"input":3,"cached":2,"output":1,"cost":0.5,"calls":2,"model":"m-1"},"delay_ms":1500}
{"text":"b"}
{"failure":{"class":"limit","status":429,"resets_in_ms":60000,"message":"m","output":"o","form":"structured","usage":{"input":4,"calls":3,"cost":1e-3,"model":"m-2"}},"delay_ms":500}`)
		began := time.Now()
		got, err := p.Complete(t.Context(), observer.Prompt{})
		want := observer.Reply{
			Text: events.NewOutput("a"), Form: events.FormStructured, StopReason: "max_tokens",
			Bill: events.Bill{Usage: events.Usage{Input: 3, Cached: 2, Output: 1}, Cost: 0.5, Calls: 2, Model: "m-1"},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || time.Since(began) != 1500*time.Millisecond {
			t.Errorf("after %v: %v, -want +got:\n%s", time.Since(began), err, diff)
		}
		got, err = p.Complete(t.Context(), observer.Prompt{})
		if want := (observer.Reply{Text: events.NewOutput("b"), Form: events.FormXML, StopReason: "end_turn", Bill: events.Bill{Calls: 1}}); !cmp.Equal(got, want) || err != nil {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		_, err = p.Complete(t.Context(), observer.Prompt{})
		failure, _ := errors.AsType[*observer.Failure](err)
		wantFailure := &observer.Failure{
			Class: events.FailLimit, Status: 429, ResetsAt: began.Add(62 * time.Second), Message: "m", Output: events.NewOutput("o"),
			Form: events.FormStructured, Bill: events.Bill{Usage: events.Usage{Input: 4}, Cost: 0.001, Calls: 3, Model: "m-2"},
		}
		if diff := cmp.Diff(wantFailure, failure); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestAnOutageLastsAsLongAsItSays asks every minute, from a first call on that comes late.
func TestAnOutageLastsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := play(t, `{"when":{"from_ms":120000,"until_ms":240000},"failure":{"class":"limit"}}`+"\n"+`{"text":"","repeat":"forever"}`)
		time.Sleep(time.Hour)
		var got []string
		for range 6 {
			got = append(got, call(t.Context(), p, observer.Prompt{}))
			time.Sleep(time.Minute)
		}
		if diff := cmp.Diff([]string{"said ", "said ", "failed limit", "failed limit", "said ", "said "}, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestAHangEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := play(t, `{"hang":true}`+"\n"+`{"text":"late","delay_ms":3600000}`+"\n"+`{"text":"next"}`)
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			began := time.Now()
			if got := call(ctx, p, observer.Prompt{}); got != "error context deadline exceeded" || time.Since(began) != time.Minute {
				t.Errorf("got %q after %v", got, time.Since(began))
			}
			cancel()
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if got := call(gone, p, observer.Prompt{}); got != "error context canceled" {
			t.Errorf("got %q", got)
		}
		if got := call(t.Context(), p, observer.Prompt{}); got != "said next" {
			t.Errorf("got %q: a call that was cancelled before it began took a step", got)
		}
	})
}

func TestCallsAtOnceTakeEachStepOnce(t *testing.T) {
	t.Parallel()
	const calls = 64
	var script strings.Builder
	for i := range calls {
		fmt.Fprintf(&script, "{\"text\":\"%d\"}\n", i)
	}
	p := play(t, script.String())
	var mu sync.Mutex
	seen := map[string]int{}
	var group sync.WaitGroup
	for range calls {
		group.Go(func() {
			said := call(t.Context(), p, observer.Prompt{})
			mu.Lock()
			defer mu.Unlock()
			seen[said]++
		})
	}
	group.Wait()
	if len(seen) != calls {
		t.Errorf("%d calls at once were given %d different steps", calls, len(seen))
	}
}
