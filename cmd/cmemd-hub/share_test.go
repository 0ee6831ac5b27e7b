package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/eventlog/union"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/testkit/logtest"
	"github.com/cmemd/cmemd/testkit/wait"
)

// peer is a machine that shares its log through a hub.
type peer struct {
	testing.TB
	log   *eventlog.Bolt
	union *union.Union
	space *space.Space
	share *share.Share
}

// newPeer enters the space of another peer by its invitation; with none it makes one.
func newPeer(t *testing.T, h *hub, name string, by *peer) *peer {
	t.Helper()
	dir, codec, s := t.TempDir(), events.NewCodec(), openJet(t, h.joining.Address)
	p := &peer{TB: t, log: logtest.Open(t, eventlog.Config{Codec: codec})}
	p.work(name + " begins")
	err := eventually(t, func(ctx context.Context) (err error) {
		if by == nil {
			p.space, _, err = space.Create(ctx, dir, s, name, time.Now())
			return err
		}
		code, err := by.space.Invite(ctx, name, "", time.Now())
		if err == nil {
			p.space, err = space.Enter(ctx, dir, s, code, name, "", time.Now())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.union, err = union.Open(p.log, union.Config{
		Dir: filepath.Join(dir, "copies"), Copies: eventlog.Config{NoSync: true, Codec: codec},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.share, err = share.New(share.Config{
		Dir: filepath.Join(dir, "share"), Space: p.space, Own: p.log, Copies: p.union, Codec: codec, Forget: p.forget,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.share.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := p.union.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// forget erases what the own log holds.
func (p *peer) forget(ctx context.Context, at []events.Place) error {
	var erase []events.Position
	for _, place := range at {
		if place.Log == p.id() {
			erase = append(erase, place.Position)
		}
	}
	return p.log.Erase(ctx, erase...)
}

func (p *peer) id() events.LogID {
	p.Helper()
	id, err := eventlog.ID(context.Background(), p.log)
	if err != nil {
		p.Fatal(err)
	}
	return id
}

// work appends prompts.
func (p *peer) work(texts ...string) {
	p.Helper()
	var drafts []events.Draft
	for i, text := range texts {
		drafts = append(drafts, events.Draft{
			ID: uuid.Must(uuid.NewV7()), OccurredAt: time.Now(), Event: events.PromptSubmitted{Number: i + 1, Text: text},
		})
	}
	if _, err := eventlog.AppendEnd(context.Background(), p.log, events.SessionIDOf("hub", "share").Stream(), drafts...); err != nil {
		p.Fatal(err)
	}
}

// has returns how many records of a log the peer has, and how many of them without their words.
func (p *peer) has(log events.LogID) (n, erased int) {
	for r, err := range p.union.All(context.Background(), 1) {
		if err != nil {
			p.Error(err)
			break
		}
		if r.Place().Log == log {
			if n++; r.Erased {
				erased++
			}
		}
	}
	return n, erased
}

func (p *peer) status() share.Status {
	p.Helper()
	st, err := p.share.Status(context.Background())
	if err != nil {
		p.Fatal(err)
	}
	return st
}

// TestShare: what two machines record goes through a hub, what one forgets is gone from the other and from the hub, and a machine that was
// taken out reads and sends nothing more.
func TestShare(t *testing.T) {
	t.Parallel()
	h := startHub(t, filepath.Join(t.TempDir(), "hub"), "127.0.0.1:0")
	a := newPeer(t, h, "desktop", nil)
	b := newPeer(t, h, "laptop", a)
	var many []string
	for i := range 999 {
		many = append(many, fmt.Sprintf("the desktop says %d", i))
	}
	began := time.Now()
	a.work(many...)
	if err := a.share.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "both have what the other recorded", func() bool {
		ours, _ := b.has(a.id())
		theirs, _ := a.has(b.id())
		return ours == 1000 && theirs == 1
	})
	t.Logf("1,000 records were with the other machine after %v", time.Since(began))

	began = time.Now()
	if _, err := b.share.Forget(t.Context(), events.Place{Log: a.id(), Position: 500}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "both and the hub have forgotten", func() bool {
		return len(a.status().Forgets) == 0 && len(b.status().Forgets) == 0
	})
	t.Logf("both machines and the hub had forgotten after %v", time.Since(began))
	if _, erased := b.has(a.id()); erased != 1 {
		t.Errorf("the laptop has %d records of the desktop without words, want 1", erased)
	}
	if r, err := a.log.Get(t.Context(), 500); err != nil || !r.Erased {
		t.Errorf("the desktop's own record: erased %v, %v", r.Erased, err)
	}

	if err := a.share.Revoke(t.Context(), b.space.Self()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the laptop knows", func() bool {
		return strings.Contains(fmt.Sprint(b.status().Problems), space.ErrRevoked.Error())
	})
	a.work("the laptop must not know this")
	b.work("nobody must know this")
	if err := a.share.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // in which either would have gone out, and come in
	if ours, _ := b.has(a.id()); ours != 1000 {
		t.Errorf("the laptop has %d records of the desktop, want the 1,000 of before it was taken out", ours)
	}
	if theirs, _ := a.has(b.id()); theirs != 1 || b.status().Own.Shipped != 1 {
		t.Errorf("the desktop has %d records of the laptop, which sent %d, want 1", theirs, b.status().Own.Shipped)
	}
}
