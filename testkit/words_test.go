package testkit_test

import (
	"os/exec"
	"testing"

	"github.com/cmemd/cmemd/testkit/words"
)

// outputs are the fields that hold the words of an output before, or without, its being parsed, and what a provider said
// with a failure.
func outputs() []string {
	var all []string
	for _, field := range []string{
		"events.TurnReceived.Output", "events.TurnFailed.Output", "events.TurnFailed.Message", "events.OutputDropped.Preview",
		"internal/observer.Reply.Text", "internal/observer.Failure.Output", "internal/observer.Failure.Message",
		"internal/replay.Event.Output", "internal/replay.Event.Fresh", "internal/replay.Respawn.Output",
	} {
		all = append(all, module+"/"+field)
	}
	return all
}

// mayRead are the files that may look into an output, each with its reason.
func mayRead() map[string]string {
	const grammar = "the output contract: it looks for tags and for blanks, and a test beside it lists every word that it knows"
	const codec = "values of the module to bytes and back: what comes out is followed by its fields, as it was before"
	const suite = "a suite for providers: what it compares is what it had scripted itself"
	const secrets = "what leaves the machine loses its secrets, whatever it says: marks are put in their place, and nothing else comes of the look"
	return map[string]string{
		"internal/observer/grammar.go":        grammar,
		"internal/observer/grammar_blocks.go": grammar,
		"internal/observer/grammar_fields.go": grammar,
		"internal/observer/grammar_tags.go":   grammar,
		"internal/observer/grammar_text.go":   grammar,
		"internal/observer/structured.go":     grammar,
		"events/codec.go":                     codec,
		"projections/engine/codec.go":         codec,
		"internal/observer/playback/write.go": codec,
		"internal/memory/erasure/match.go":    "a person names words to be erased, and whatever holds them goes: nothing else comes of the look",
		"testkit/providertest/suite.go":       suite,
		"testkit/providertest/service.go":     suite,
		"testkit/wiretest/suite.go":           suite,
		"testkit/wiretest/trouble.go":         suite,
		"testkit/wiretest/forms.go":           suite,
		"internal/agents/watch/state.go":      "the paths of transcripts: beside them stands why one is not read, at which nobody looks",
		"internal/redact/address.go":          secrets,
		"internal/redact/assign.go":           secrets,
		"internal/redact/finder.go":           secrets,
		"internal/redact/judge.go":            secrets,
		"internal/redact/pem.go":              secrets,
		"internal/redact/redact.go":           secrets,
		"internal/redact/shapes.go":           secrets,
		"internal/redact/spaced.go":           secrets,
		"internal/redact/tokens.go":           secrets,
		"internal/redact/value.go":            secrets,
		"internal/redact/full/exceptions.go":  secrets,
		"internal/redact/full/full.go":        secrets,
		"internal/redact/full/rules.go":       secrets,
		"actors/policy/phrases.go":            "the phrases of policies that only replay knows, to show what such a rule costs",
	}
}

// mayMask are the functions that take something out of a text, or put a mark on it, whatever it says: each with its reason.
func mayMask() map[string]string {
	return map[string]string{
		"internal/replay/prove_compare.go:equal":       "the proof: whole recorded events beside whole derived ones; nothing is decided by it",
		"internal/observer/scrub.go:isKey":             "keys are taken out of what people are shown",
		"cmd/cmemd/provider_guard.go:Ask":              "the user's own key is taken out of an answer before anybody has it",
		"cmd/cmemd/internal/terminal/exit.go:Describe": "the names of packages are taken off an error that a person is shown",
		"internal/agents/relay/notice.go:PlainNotice":  "a notice's own brackets around what people are shown",
	}
}

// TestNobodyActsOnTheWordsOfAnOutput reads the code: outside of the files above no words of an unparsed output are
// compared with anything.
func TestNobodyActsOnTheWordsOfAnOutput(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	touch(t, root)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not installed")
	}
	program, err := words.Load(root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	found, err := program.Check(words.Rules{Sources: outputs(), Allowed: mayRead(), Masks: mayMask()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}
