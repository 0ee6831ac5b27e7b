//go:build unix

package machines

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// hookAsked is what a hook may take, of a hundred all but one.
	hookAsked = 10 * time.Millisecond

	// hookFactor and hookSlack are by how much more than beside it a hook may take, on a machine on which both take more than
	// hookAsked: a quantile of some hundred is an outlier or two.
	hookFactor = 2
	hookSlack  = 10 * time.Millisecond

	// hookMost is what hooks may take where those beside them take less: then agents wait for a hook's whole time.
	hookMost = 300 * time.Millisecond

	// hooksLeast are how many are to be looked at in the home beside; a home that has joined has as many at least.
	hooksLeast = 30
)

// times are those of hooks in homes that have joined, and in one beside them that has not.
type times struct {
	mu            sync.Mutex // guards the fields below
	joined, alone []time.Duration
}

// allHooks are those of the whole run.
var allHooks times

func (h *times) add(joined bool, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if joined {
		h.joined = append(h.joined, took)
	} else {
		h.alone = append(h.alone, took)
	}
}

// few reports whether too few hooks ran to say anything.
func (h *times) few() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(len(h.joined), len(h.alone)) < hooksLeast
}

// quantile is of times; they need not be in order.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[int(q*float64(len(sorted)-1))]
}

func (h *times) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ms := func(all []time.Duration, q float64) float64 { return float64(quantile(all, q).Microseconds()) / 1000 }
	return fmt.Sprintf("%d joined: median %.1f ms, p99 %.1f ms; %d beside them that have not joined: median %.1f ms, p99 %.1f ms (p99 asked: 10 ms)",
		len(h.joined), ms(h.joined, .5), ms(h.joined, .99), len(h.alone), ms(h.alone, .5), ms(h.alone, .99))
}

// judge says what is wrong with the times of hooks; "" if nothing is.
func (h *times) judge() string {
	h.mu.Lock()
	joined, alone := quantile(h.joined, .99), quantile(h.alone, .99)
	h.mu.Unlock()
	switch {
	case h.few():
		return "too few hooks ran to say anything"
	case joined > hookMost && alone <= hookMost:
		return "agents wait for hooks"
	case joined > hookAsked && joined > hookFactor*alone+hookSlack:
		return "hooks take longer than in the home that has not joined"
	}
	return ""
}

// TestJudgeOfHooks: hooks that are slow by themselves fail, those that are slow as all else is do not.
func TestJudgeOfHooks(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, tt := range []struct {
		joined, alone time.Duration
		wrong         bool
	}{
		{5 * ms, 5 * ms, false},
		{9 * ms, 2 * ms, false},
		{40 * ms, 30 * ms, false},
		{40 * ms, 5 * ms, true},
		{310 * ms, 300 * ms, true},
		{900 * ms, 800 * ms, false}, // then it is the machine
	} {
		var h times
		for range 100 {
			h.add(true, tt.joined)
			h.add(false, tt.alone)
		}
		if got := h.judge(); (got != "") != tt.wrong {
			t.Errorf("joined %v, alone %v: %q", tt.joined, tt.alone, got)
		}
	}
	if new(times).judge() == "" {
		t.Error("no hooks at all pass")
	}
}
