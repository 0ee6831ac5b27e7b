package sharing

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

// TestJoinOffline: homes whose daemons do not run make a space and enter it, by an invitation and by the recovery code, once each.
func TestJoinOffline(t *testing.T) {
	t.Parallel()
	store, now := t.TempDir(), time.Now()
	first, second, third := t.TempDir(), t.TempDir(), t.TempDir()
	made, err := JoinOffline(t.Context(), first, api.ClusterJoin{Where: store, Name: "desktop"}, now)
	if err != nil || made.Machines != 1 || made.Recovery == "" || made.Invitation == nil {
		t.Fatalf("made %+v, %v", made, err)
	}
	invited := api.ClusterJoin{Code: made.Invitation.Code, Name: "laptop"}
	if joined, err := JoinOffline(t.Context(), second, invited, now); err != nil || joined.Machines != 2 || joined.Recovery != "" {
		t.Errorf("entered %+v, %v", joined, err)
	}
	recovered := api.ClusterJoin{Where: store, Code: made.Recovery, Name: "server"}
	if joined, err := JoinOffline(t.Context(), third, recovered, now); err != nil || joined.Machines != 3 {
		t.Errorf("entered %+v, %v", joined, err)
	}
	if joined, err := JoinOffline(t.Context(), first, api.ClusterJoin{Where: store}, now); err == nil || !strings.Contains(err.Error(), "in a space already") {
		t.Errorf("entered again: %+v, %v", joined, err)
	}
	if joined, err := JoinOffline(t.Context(), t.TempDir(), invited, now); err == nil || !strings.Contains(err.Error(), "was used already") {
		t.Errorf("entered by a code that was used: %+v, %v", joined, err)
	}
	for _, dir := range []string{first, second, third} {
		if !hasJoined(dir) {
			t.Errorf("%s is in no space", dir)
		}
	}
}

// TestForgetBeforeStart: what is to be forgotten everywhere while nothing is carried yet, or no longer, does not pass for told; a home in no
// space has nobody to tell.
func TestForgetBeforeStart(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), []events.Place{{Position: 1}}
	if err := New(Config{Dir: dir}).Forget(t.Context(), at); err != nil {
		t.Errorf("in no space: %v", err)
	}
	if _, err := JoinOffline(t.Context(), dir, api.ClusterJoin{Where: t.TempDir()}, time.Now()); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Dir: dir})
	if err := s.Forget(t.Context(), at); !errors.Is(err, errNotRunning) {
		t.Errorf("before the start: %v", err)
	}
	s.Stop()
	if err := s.Forget(t.Context(), at); !errors.Is(err, errNotRunning) {
		t.Errorf("after the end: %v", err)
	}
}
