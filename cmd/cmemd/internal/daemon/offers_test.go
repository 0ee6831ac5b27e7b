package daemon

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/actors"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/providers"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
)

// TestWhoIsAsked holds the settings to the providers that are made of them.
func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	type built struct {
		Order, All         []string
		Summaries, Trivial string
	}
	for name, c := range map[string]struct {
		file string
		want built
	}{
		"one": {"", built{Order: []string{"extractive"}, All: []string{"extractive"}}},
		"an order, and tiers of its own": {
			"provider = \"openai\"\nopenai_model = \"big\"\nfallbacks = \"claude-cli, extractive\"\ntrivial_model = \"small\"\nsummary_provider = \"claude-cli\"",
			built{
				Order: []string{"openai big", "claude-cli claude-haiku-5-5", "extractive"}, Summaries: "claude-cli claude-haiku-5-5",
				Trivial: "openai-trivial small", All: []string{"openai big", "claude-cli claude-haiku-5-5", "extractive", "openai-trivial small"},
			},
		},
		"both tiers are one": {
			"summary_provider = \"claude-cli\"\nsummary_model = \"m\"\ntrivial_provider = \"claude-cli\"\ntrivial_model = \"m\"",
			built{
				Order: []string{"extractive"}, Summaries: "claude-cli-summary m", Trivial: "claude-cli-summary m",
				All: []string{"extractive", "claude-cli-summary m"},
			},
		},
		"a tier that names the provider's own model": {
			"provider = \"claude-cli\"\nsummary_model = \"claude-haiku-5-5\"",
			built{
				Order: []string{"claude-cli claude-haiku-5-5"}, Summaries: "claude-cli claude-haiku-5-5", All: []string{"claude-cli claude-haiku-5-5"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(clitest.HomeWith(t, c.file), nil)
			if err != nil {
				t.Fatal(err)
			}
			made, err := newProviderSet(providers.Builder{Settings: l, Runs: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			var got built
			shown := func(p observer.Provider) string {
				if p.Name() == "extractive" { // whose model is its own affair
					return p.Name()
				}
				return terminal.NameOfModel(p.Name(), p.Model())
			}
			for _, o := range made.routes() {
				got.Order = append(got.Order, shown(o))
				if o.Free != (o.Name() == "extractive") || len(o.Mode.Types) == 0 {
					t.Errorf("%s: free %v, mode %q", o.Name(), o.Free, o.Mode.ID)
				}
			}
			for _, p := range made.all {
				got.All = append(got.All, shown(p))
			}
			for at, o := range map[*string]*actors.Route{&got.Summaries: tierRoute(made.summaries), &got.Trivial: tierRoute(made.trivial)} {
				if o != nil {
					*at = shown(o)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if err := made.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAllTrivial(t *testing.T) {
	t.Parallel()
	input := func(tool, in, out string) observer.Input {
		return observer.Input{Event: events.ToolUsed{Tool: tool, Input: in, Output: out}}
	}
	list := input("Bash", `{"command":"ls -la"}`, "a\nb")
	read := input("Read", `{"file_path":"/src/a.go"}`, "package a")
	edit := input("Edit", `{"file_path":"/src/a.go","old_string":"a","new_string":"b"}`, "ok")
	for name, c := range map[string]struct {
		inputs []observer.Input
		want   bool
	}{
		"nothing":          {nil, true},
		"listings":         {[]observer.Input{list, list}, true},
		"a file, read":     {[]observer.Input{list, read}, false},
		"read again":       {[]observer.Input{read, read}, false}, // the first time it was news
		"another turn had": {[]observer.Input{{Event: read.Event, Repeats: true}}, true},
		"an edit at last":  {[]observer.Input{list, edit}, false},
		"erased":           {[]observer.Input{list, {}}, true},
		"a compaction too": {[]observer.Input{list, {Event: events.ContextCompacted{Summary: "s"}}}, false},
	} {
		if got := allTrivial(c.inputs); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
