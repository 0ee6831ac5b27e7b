package model_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors/policy"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/model"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// said is one answer of a scripted asker.
type said struct {
	text  string
	err   error
	takes time.Duration
}

// scripted is an asker that answers by a script, the last answer ever after.
type scripted struct {
	script []said

	mu    sync.Mutex // guards asked
	asked []model.Question
	at    []time.Time
}

func (s *scripted) Model() string { return "m-1" }

func (s *scripted) Ask(ctx context.Context, q model.Question) (observer.Reply, error) {
	if ctx.Err() != nil {
		return observer.Reply{}, ctx.Err()
	}
	s.mu.Lock()
	s.asked, s.at = append(s.asked, q), append(s.at, time.Now())
	a := s.script[min(len(s.asked), len(s.script))-1]
	s.mu.Unlock()
	select {
	case <-time.After(a.takes):
	case <-ctx.Done():
		return observer.Reply{}, ctx.Err()
	}
	if a.err != nil {
		return observer.Reply{}, a.err
	}
	return observer.Reply{Text: events.NewOutput(a.text), StopReason: "stop", Bill: events.Bill{Usage: events.Usage{Input: 10, Cached: 4, Output: 1}}}, nil
}

// forms are the first letters of the forms that were asked for.
func (s *scripted) forms() string {
	var list strings.Builder
	for _, q := range s.asked {
		list.WriteByte(q.Form[0])
	}
	return list.String()
}

// plain renders what the tests look for.
type plain struct{}

func (plain) Question(p observer.Prompt, f events.Form) model.Question {
	return model.Question{System: "role for " + string(f), User: p.Request}
}

func provider(t *testing.T, c model.Config, script ...said) (*model.Provider, *scripted) {
	t.Helper()
	s := &scripted{script: script}
	c.Name, c.Asker, c.Renderer = "test", s, plain{}
	p, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

func failing(class events.FailureClass, status int) said {
	return said{err: &observer.Failure{Class: class, Status: status, Message: "m"}}
}

func TestProviderKeepsTheContract(t *testing.T) {
	t.Parallel()
	providertest.Run(t, func(t *testing.T) observer.Provider {
		p, _ := provider(t, model.Config{Form: events.FormXML}, said{text: observer.SkipForm})
		return p
	}, providertest.Options{Deterministic: true})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	ok := model.Config{Name: "p", Asker: &scripted{}, Renderer: plain{}}
	for name, edit := range map[string]func(*model.Config){
		"name": func(c *model.Config) { c.Name = "My provider" }, "nobody": func(c *model.Config) { c.Asker = nil },
		"nothing": func(c *model.Config) { c.Renderer = nil }, "form": func(c *model.Config) { c.Form = "auto" },
		"timeout": func(c *model.Config) { c.Timeout = -1 }, "backoff": func(c *model.Config) { c.Backoff = -1 },
		"tokens": func(c *model.Config) { c.MaxTokens = -1 },
	} {
		c := ok
		edit(&c)
		if _, err := model.New(c); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	p, err := model.New(ok)
	if err != nil || p.Name() != "p" || p.Model() != "m-1" || p.BatchLimits() != policy.ModelLimits() {
		t.Errorf("got %q, %q, %+v, %v", p.Name(), p.Model(), p.BatchLimits(), err)
	}
}

// TestQuestionsAreRedacted: what leaves the machine went through Redact, and a question is complete.
func TestQuestionsAreRedacted(t *testing.T) {
	t.Parallel()
	c := model.Config{
		Form: events.FormStructured, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }, MaxTokens: 99,
		Mode: observer.Mode{ID: "m", Types: []observer.Term{{ID: "fix"}}},
	}
	p, s := provider(t, c, said{text: "{}"})
	for _, kind := range []events.TurnKind{events.TurnObservation, events.TurnSummary} {
		if _, err := p.Complete(t.Context(), observer.Prompt{Kind: kind, Request: "password hunter2"}); err != nil {
			t.Fatal(err)
		}
		want := model.Question{
			Kind: kind, System: "role for structured", User: "password [redacted]", Form: events.FormStructured, MaxTokens: 99,
			Schema: observer.Schema(kind, c.Mode),
		}
		if diff := cmp.Diff(want, s.asked[len(s.asked)-1]); diff != "" {
			t.Errorf("%s turn (-want +got):\n%s", kind, diff)
		}
	}
}

// TestRetries walks over all failure classes: which are tried again, how often, and how long it takes.
func TestRetries(t *testing.T) {
	t.Parallel()
	retried := map[events.FailureClass]bool{
		events.FailTransport: true, events.FailLimit: true, events.FailOverload: true, events.FailServer: true,
	}
	for _, class := range events.FailureClasses() {
		synctest.Test(t, func(t *testing.T) {
			p, s := provider(t, model.Config{Form: events.FormXML}, failing(class, 0))
			began := time.Now()
			_, err := p.Complete(t.Context(), observer.Prompt{})
			if f, ok := errors.AsType[*observer.Failure](err); !ok || f.Class != class {
				t.Errorf("%s: got %v", class, err)
			}
			took, tries := time.Since(began), len(s.asked)
			if want := 1 + 2*b2i(retried[class]); tries != want {
				t.Errorf("%s: asked %d times, want %d", class, tries, want)
			}
			if low, high := 750*time.Millisecond, 2250*time.Millisecond; retried[class] && (took < low || took > high) {
				t.Errorf("%s: two retries took %v, want %v to %v", class, took, low, high)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, s := provider(t, model.Config{Form: events.FormXML}, failing(events.FailTimeout, 408), said{text: "x"})
		if r, err := p.Complete(t.Context(), observer.Prompt{}); err != nil || r.Text.RawText() != "x" || len(s.asked) != 2 {
			t.Errorf("408: got %+v, %v after %d tries, want an answer to the second", r, err, len(s.asked))
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWaits: a reset within ten seconds is waited for, a later one is not, and none beyond the turn.
func TestWaits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reset, deadline time.Duration
		tries           int
		took            time.Duration // at least; the jitter is less than a tenth of a second on top
	}{
		{3 * time.Second, 0, 2, 3 * time.Second}, {10 * time.Second, 0, 2, 10 * time.Second}, {10*time.Second + time.Millisecond, 0, 1, 0},
		{-time.Second, 0, 2, 250 * time.Millisecond}, {3 * time.Second, 2 * time.Second, 1, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			limited := &observer.Failure{Class: events.FailLimit, Status: 429, ResetsAt: began.Add(tc.reset)}
			p, s := provider(t, model.Config{Form: events.FormXML}, said{err: limited}, said{text: "x"})
			ctx := t.Context()
			if tc.deadline > 0 {
				c, cancel := context.WithTimeout(ctx, tc.deadline)
				defer cancel()
				ctx = c
			}
			_, err := p.Complete(ctx, observer.Prompt{})
			if (err == nil) != (tc.tries == 2) || len(s.asked) != tc.tries {
				t.Errorf("%v: got %v after %d tries, want %d", tc.reset, err, len(s.asked), tc.tries)
			}
			if f, ok := errors.AsType[*observer.Failure](err); err != nil && (!ok || !f.ResetsAt.Equal(began.Add(tc.reset))) {
				t.Errorf("%v: got %+v, want the limit with its reset", tc.reset, err)
			}
			if took := time.Since(began); took < tc.took || took > tc.took+600*time.Millisecond {
				t.Errorf("%v: took %v, want about %v", tc.reset, took, tc.took)
			}
		})
	}
}

// TestTime: a turn has an end, which is a time out; the caller's end is a stop.
func TestTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := provider(t, model.Config{Form: events.FormXML}, said{takes: time.Hour})
		began := time.Now()
		_, err := p.Complete(t.Context(), observer.Prompt{})
		if f, ok := errors.AsType[*observer.Failure](err); !ok || f.Class != events.FailTimeout || time.Since(began) != time.Minute {
			t.Errorf("got %v after %v, want a time out after a minute", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Complete(ctx, observer.Prompt{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the caller's deadline", err)
		}
		p, _ = provider(t, model.Config{Form: events.FormXML}, failing(events.FailServer, 500))
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, stop)
		if _, err := p.Complete(ctx, observer.Prompt{}); !errors.Is(err, context.Canceled) {
			t.Errorf("between tries: got %v, want context.Canceled", err)
		}
	})
}

// TestForms: which forms are asked for in some turns, by what the service says to the questions.
func TestForms(t *testing.T) {
	t.Parallel()
	const x, s = events.FormXML, events.FormStructured
	noForm, refused := said{err: fmt.Errorf("at once: %w", model.ErrForm)}, failing(events.FailRefused, 400)
	xml, json, prose := said{text: observer.SkipForm}, said{text: `{"observations":[]}`}, said{text: "Sure!"}
	busy, again := failing(events.FailServer, 500), said{err: model.ErrAgain}
	for name, tc := range map[string]struct {
		form   events.Form
		script []said
		asked  string // the first letters of the forms
		errs   string // of the turns: . for none, else the class's first letter
	}{
		"taken":                       {"", []said{json}, "sss", "..."},
		"prose once it is taken":      {"", []said{json, prose}, "sss", "..."},
		"refused by name":             {"", []said{noForm, xml}, "sxxx", "..."},
		"refused by name, later":      {"", []said{json, noForm, xml}, "ssxx", "..."},
		"refused without a word":      {"", []said{refused, xml, refused, xml, xml}, "sxsxxx", "...."},
		"refused once":                {"", []said{refused, xml, json, json}, "sxss", "..."},
		"refused now and then":        {"", []said{refused, xml, json, refused, xml, json}, "sxssxs", "...."},
		"refused in both":             {"", []said{refused, refused, json}, "sxss", "r.."},
		"refused later":               {"", []said{json, refused, xml, refused, xml, xml}, "ssxsxxx", "....."},
		"not found":                   {"", []said{failing(events.FailSetup, 404), xml, json}, "sxss", "..."},
		"no key":                      {"", []said{failing(events.FailSetup, 0), json}, "sss", "s.."},
		"no money":                    {"", []said{failing(events.FailBilling, 400), json}, "sss", "b.."},
		"too long":                    {"", []said{failing(events.FailOverflow, 413), json}, "sss", "o.."},
		"ignored":                     {"", []said{prose, xml, prose, xml, xml}, "sxsxx", "..."},
		"ignored once":                {"", []said{prose, xml, json}, "sxss", "..."},
		"blank says nothing":          {"", []said{{}, json}, "sss", "..."},
		"XML is wanted":               {x, []said{xml}, "xxx", "..."},
		"XML is wanted, but refused":  {x, []said{refused, xml}, "xxx", "r.."},
		"structured is wanted":        {s, []said{prose, noForm, json}, "sss", ".s."},
		"no form at all":              {"", []said{noForm, noForm, noForm, xml}, "sxxx", "ss."},
		"structured, never had":       {s, []said{refused, xml, refused, xml, json}, "sxsxs", "ss."},
		"structured, but refused":     {s, []said{refused, refused, json}, "sxs", "r."},
		"structured, refused later":   {s, []said{json, refused, json}, "sss", ".r."},
		"busy, then no such form":     {"", []said{busy, busy, noForm, xml}, "sssx", "s."},
		"another parameter refused":   {"", []said{again, noForm, xml}, "ssxx", ".."},
		"every parameter refused":     {"", []said{again}, "ssssss", "ss"},
		"no such form, then busy":     {"", []said{noForm, busy, busy, xml}, "sxxx", "s."},
		"busy, then refused":          {"", []said{busy, refused, xml, json}, "ssxs", ".."},
		"refused, then busy for long": {"", []said{refused, busy, busy, json}, "sxxs", "r."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, asker := provider(t, model.Config{Form: tc.form}, tc.script...)
				var errs strings.Builder
				for range len(tc.errs) {
					r, err := p.Complete(t.Context(), observer.Prompt{Request: "u"})
					f, ok := errors.AsType[*observer.Failure](err)
					switch {
					case ok:
						errs.WriteByte(f.Class[0])
					case err == nil && r.Form == asker.asked[len(asker.asked)-1].Form:
						errs.WriteByte('.')
					default:
						t.Errorf("got %+v, %v", r, err)
					}
				}
				if asker.forms() != tc.asked || errs.String() != tc.errs {
					t.Errorf("asked for %s, and the turns came to %s, want %s and %s", asker.forms(), errs.String(), tc.asked, tc.errs)
				}
			})
		})
	}
}

// TestTheSettledFormIsLogged, once, and so is each that takes its place; not a word of a prompt.
func TestTheSettledFormIsLogged(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	noTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	json, xml, refused := said{text: "{}"}, said{text: observer.SkipForm}, failing(events.FailRefused, 400)
	c := model.Config{Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{ReplaceAttr: noTime})), LeastThinking: true}
	p, s := provider(t, c, json, json, refused, xml, refused, xml, refused, xml, refused, xml, xml, xml)
	for range 8 {
		if _, err := p.Complete(t.Context(), observer.Prompt{Request: "u"}); err != nil {
			t.Fatal(err)
		}
	}
	want := `level=INFO msg="form settled" provider=test model=m-1 form=structured least_thinking=true
level=INFO msg="form changed" provider=test model=m-1 form=structured least_thinking=false
level=INFO msg="form changed" provider=test model=m-1 form=xml least_thinking=true
level=INFO msg="form settled" provider=test model=m-1 form=xml least_thinking=true
`
	if diff := cmp.Diff(want, logged.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var least strings.Builder
	for _, q := range s.asked {
		least.WriteString(map[bool]string{true: "l", false: "p"}[q.LeastThinking])
	}
	if got, want := s.forms()+" "+least.String(), "sssxsxsxsxxx lllplpppppll"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// TestAnswersAreBounded and valid, whatever the asker gives.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	p, _ := provider(t, model.Config{Form: events.FormXML}, said{text: strings.Repeat("é", 1<<18)}, said{text: "a\xffb"})
	_, err := p.Complete(t.Context(), observer.Prompt{})
	if f, ok := errors.AsType[*observer.Failure](err); !ok || f.Class != events.FailTruncated || f.Output.Len() != 256<<10 {
		t.Errorf("got %.100v, want a truncated answer", err)
	}
	if r, err := p.Complete(t.Context(), observer.Prompt{}); err != nil || !cmp.Equal(r.Text.RawText(), "a\uFFFDb") {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// TestCrashesPass: what is no failure belongs to the supervisor, and is not tried again.
func TestCrashesPass(t *testing.T) {
	t.Parallel()
	died := errors.New("child died")
	p, s := provider(t, model.Config{}, said{err: died})
	if _, err := p.Complete(t.Context(), observer.Prompt{}); !errors.Is(err, died) || len(s.asked) != 1 {
		t.Errorf("got %v after %d tries", err, len(s.asked))
	}
}
