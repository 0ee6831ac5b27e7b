package claudecli

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/observer"
	"github.com/cmemd/cmemd/observer/model"
	"github.com/cmemd/cmemd/testkit/providertest"
)

// wholePrompt asks with all that a prompt carries, so that megabytes go through a child's standard input.
type wholePrompt struct{}

func (wholePrompt) Question(p observer.Prompt, _ events.Form) model.Question {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return model.Question{System: "You condense. be brief", User: string(b)}
}

// TestConformance holds the client, as the daemon asks it, to what every provider promises.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts some 500 children")
	}
	f := newFake(t, answerSaid)
	providertest.Run(t, func(t *testing.T) observer.Provider {
		p, err := model.New(model.Config{
			Name: Name, Asker: f.client(t), Renderer: wholePrompt{}, Form: events.FormXML, Retries: -1, Backoff: time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}, providertest.Options{})
}
