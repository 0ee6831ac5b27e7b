package machines

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/internal/api"
)

// TestShowLeaving: who leaves is shown what others may have still of what this machine asked all to forget.
func TestShowLeaving(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		forgets []share.Forget
		want    string
	}{
		"its own, twice":       {[]share.Forget{{By: "laptop", Waiting: []string{"server"}}, {By: "laptop", Waiting: []string{"server", "ci"}}}, "2 requests of this machine to forget are not done yet by ci, server,"},
		"of another one":       {[]share.Forget{{By: "desktop", Waiting: []string{"server"}}}, ""},
		"that nobody waits of": {[]share.Forget{{By: "laptop"}}, ""},
	} {
		a, out, said := clitest.App()
		showLeaving(a, api.Cluster{Joined: true, Status: &api.ClusterStatus{
			Machines: []share.Machine{{Name: "desktop"}, {Name: "laptop", Self: true}},
			Forgets:  c.forgets,
		}})
		if !strings.Contains(said.String(), c.want) || strings.Contains(said.String(), "to forget") != (c.want != "") || out.Len() > 0 {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestLeavingOnceRevoked: a machine that was taken out is advised to do nothing that it may not do, and that is done.
func TestLeavingOnceRevoked(t *testing.T) {
	t.Parallel()
	for _, revoked := range []bool{false, true} {
		a, _, said := clitest.App()
		c := api.Cluster{Joined: true, Status: &api.ClusterStatus{
			Own: share.Shipping{Records: 3}, Machines: []share.Machine{{Name: "laptop", Self: true, Revoked: revoked}},
		}}
		showLeaving(a, c)
		showLeft(a, api.ClusterLeft{}, isRevoked(c), true)
		for _, advice := range []string{"cmemd flush", "cmemd devices revoke"} {
			if strings.Contains(said.String(), advice) == revoked {
				t.Errorf("revoked %t: %q", revoked, said)
			}
		}
	}
}
