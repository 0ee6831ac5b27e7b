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
		"observer.Reply.Text", "observer.Failure.Output", "observer.Failure.Message",
		"replay.Event.Output", "replay.Event.Fresh", "replay.Respawn.Output",
	} {
		all = append(all, module+"/"+field)
	}
	return all
}

// mayRead are the files that may look into an output, each with its reason.
func mayRead() map[string]string {
	const grammar = "the output contract: it looks for tags and for blanks, and a test beside it lists every word that it knows"
	return map[string]string{
		"observer/grammar.go":         grammar,
		"observer/grammar_blocks.go":  grammar,
		"observer/grammar_fields.go":  grammar,
		"observer/grammar_tags.go":    grammar,
		"observer/grammar_text.go":    grammar,
		"observer/structured.go":      grammar,
		"observer/scrub.go":           "takes what may be a key out of what a service said before it is recorded: it decides nothing",
		"policy/phrases.go":           "the phrases of policies that only replay knows, to show what such a rule costs",
		"cmd/cmemd/provider_guard.go": "takes the key out of an answer before it is recorded: it looks for that one secret and decides nothing",
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
	found, err := program.Check(words.Rules{Sources: outputs(), Allowed: mayRead()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}
