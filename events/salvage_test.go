package events_test

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

func TestSpansText(t *testing.T) {
	t.Parallel()
	many := make([]events.Span, 23)
	for i := range many {
		many[i] = events.Span{From: events.Position(10 * i), To: events.Position(10 * i)}
	}
	if got, want := events.SpansText([]events.Span{{From: 7, To: 7}, {From: 9, To: 12}}), "7, 9-12"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := events.SpansText(many); !strings.HasSuffix(got, ", 190 and 3 more") {
		t.Errorf("of 23 spans: %q", got)
	}
}
