package extractive

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// TestPublished: what git said went well of tags and pushes stands beside the commit, and in the summary; nothing else does.
func TestPublished(t *testing.T) {
	t.Parallel()
	const commit = "1 file changed, 1 commit"
	made := committed("git commit -m x", "[main 1a2b3c4] Round totals once")
	for name, c := range map[string]struct {
		calls []events.Event
		want  string
	}{
		"nothing more":             {nil, commit},
		"a tag and two pushes":     {[]events.Event{ranWell("git tag v1.2.0"), ranWell("git push origin main"), ranWell("git push origin v1.2.0")}, commit + ", tagged, pushed"},
		"in one line":              {[]events.Event{ranWell("git tag -a v1.2.0 -m 'Round once' && git push --tags")}, commit + ", tagged, pushed"},
		"an end that was not told": {[]events.Event{ranWell("git push origin main 2>&1 | tail -3")}, commit},
		"refused":                  {[]events.Event{ranBadly("git push origin main", "! [rejected] main -> main (fetch first)")}, commit},
		"refused, then not":        {[]events.Event{ranBadly("git push", "! [rejected] main -> main (fetch first)"), ranWell("git pull --rebase"), ranWell("git push")}, commit + ", pushed"},
		"refused at the end":       {[]events.Event{ranWell("git push"), ranBadly("git push", "! [rejected] main -> main (fetch first)")}, commit},
		"tags listed":              {[]events.Event{ranWell("git tag"), ranWell("git tag -l 'v*'"), ranWell("git tag --contains HEAD")}, commit},
		"a tag taken back":         {[]events.Event{ranWell("git tag -d v1.2.0"), ranWell("git push --delete origin v1.2.0")}, commit},
		"a rehearsal":              {[]events.Event{ranWell("git push --dry-run origin main")}, commit},
		"another folder":           {[]events.Event{ranWell("cd /srv/other && git push"), ranWell("git -C /srv/other push")}, commit},
		"a folder of it":           {[]events.Event{ranWell("cd docs && git push")}, commit + ", pushed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := one(t, observation("", append([]events.Event{editFile(cwd + "/cart.go"), made}, c.calls...)...))
			if o.Subtitle != c.want {
				t.Errorf("got %q, want %q", o.Subtitle, c.want)
			}
			s := ask(t, summaryPrompt("Done.", events.ObservationParsed{Type: o.Type, Title: o.Title, Subtitle: o.Subtitle, Facts: o.Facts})).Summary
			if !strings.Contains(s.Completed, c.want) {
				t.Errorf("done: %q, want %q in it", s.Completed, c.want)
			}
		})
	}
}
