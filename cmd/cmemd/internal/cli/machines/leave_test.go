package machines

import (
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
)

// TestShowLeaving: who leaves is shown what others may have still of what this machine asked all to forget.
func TestShowLeaving(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]int{"laptop": 1, "desktop": 0} {
		a, out, said := clitest.App()
		showLeaving(a, api.Cluster{Joined: true, Status: &api.ClusterStatus{
			Machines: []share.Machine{{Name: "desktop"}, {Name: "laptop", Self: true}},
			Forgets:  []share.Forget{{At: time.Now(), By: by, Here: true, Waiting: []string{"server"}}},
		}})
		if got := strings.Count(said.String(), "is not gone everywhere"); got != want || out.Len() > 0 {
			t.Errorf("asked by %s: %q", by, said)
		}
	}
}
