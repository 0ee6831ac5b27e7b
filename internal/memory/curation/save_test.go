package curation

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
)

func TestMemoryTitles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("wörter ", 30)
	for _, c := range []struct{ title, text, want string }{
		{" given ", "text", "given"},
		{"", "first\nsecond", "first"},
		{"<private>x</private>", "text", "text"},
		{"", long, strings.TrimSpace(strings.Repeat("wörter ", 10)) + "…"},
	} {
		m := api.Memory{Title: c.title, Text: c.text}
		if got := savedMemory(&m, newID(), events.WriterPerson, time.Now()).Title; got != c.want {
			t.Errorf("title %q, text %.20q: got %q, want %q", c.title, c.text, got, c.want)
		}
	}
}
