package memory

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/memory/erasure"
)

// answered is a daemon with three open requests, of which another terminal answers the second before it is this one's turn.
type answered struct{ refused []string }

// Invoke implements api.Invoker.
func (d *answered) Invoke(_ context.Context, _ api.Endpoint, query, answer any, _ func(api.Progress)) error {
	var open []api.OpenRequest
	for i := range 3 {
		open = append(open, api.OpenRequest{Requested: erasure.Requested{ID: events.ID{15: byte(i)}, Rows: make([]events.ID, 2)}})
	}
	switch q := query.(type) {
	case api.NoQuery:
		answer.(*api.OpenRequests).Requests = open
	case api.IDQuery:
		if q.ID == open[1].ID.String() {
			return &api.Problem{Type: api.ProblemNotFound}
		}
		d.refused = append(d.refused, q.ID)
	}
	return nil
}

func TestAnswerAllPassesOverWhatWasAnsweredMeanwhile(t *testing.T) {
	t.Parallel()
	a, out, errors := clitest.App()
	daemon := &answered{}
	if err := (forgetCommand{refuse: api.AllRequests, yes: true}).answerAll(t.Context(), a, daemon); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	if diff := cmp.Diff([]string{events.ID{}.String(), events.ID{15: 2}.String()}, daemon.refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if !strings.Contains(out.String(), "refused: 2 requests with 4 rows\n") {
		t.Errorf("it says:\n%s", out)
	}
}
