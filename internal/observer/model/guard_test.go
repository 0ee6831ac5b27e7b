package model

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

func TestAnswersDoNotHoldTheKey(t *testing.T) {
	t.Parallel()
	const canary = "sk-canary-7f3a9c1e5b8d2460aa51c9"
	guard := func(secret string, p parrot) Guarded {
		key, err := NewKey(KeySource{Env: "K", Getenv: func(string) string { return secret }})
		if err != nil {
			t.Fatal(err)
		}
		return Guarded{Asker: p, Key: key}
	}
	said := "<title>" + canary + canary + "</title>"
	got, err := guard(canary, parrot{reply: observer.Reply{Text: events.NewOutput(said), Bill: events.Bill{Model: canary}, StopReason: canary}}).Ask(t.Context(), Question{})
	want := observer.Reply{Text: events.NewOutput("<title>[key][key]</title>"), Bill: events.Bill{Model: "[key]"}, StopReason: "[key]"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	_, err = guard(canary, parrot{err: &observer.Failure{Class: events.FailTruncated, Output: events.NewOutput(said)}}).Ask(t.Context(), Question{})
	if f, ok := errors.AsType[*observer.Failure](err); !ok || f.Output.RawText() != want.Text.RawText() {
		t.Errorf("got %v, want its output without the key", err)
	}
	short := observer.Reply{Text: events.NewOutput("none of it")}
	if got, err := guard("none", parrot{reply: short}).Ask(t.Context(), Question{}); err != nil || got.Text.RawText() != short.Text.RawText() {
		t.Errorf("a word for a key: got %q, %v", got.Text, err)
	}
	if _, err := guard(canary, parrot{err: ErrForm}).Ask(t.Context(), Question{}); !errors.Is(err, ErrForm) {
		t.Errorf("got %v, want %v", err, ErrForm)
	}
}

// parrot answers with what it has.
type parrot struct {
	reply observer.Reply
	err   error
}

func (parrot) Model() string { return "parrot" }

func (p parrot) Ask(context.Context, Question) (observer.Reply, error) { return p.reply, p.err }
