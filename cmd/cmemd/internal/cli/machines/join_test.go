package machines

import (
	"strings"
	"testing"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/internal/api"
)

// TestCutCodeIsNotRepeated: a code that was not copied whole still opens most of what a whole one does, so that no error repeats it; a folder
// that is not there is named.
func TestCutCodeIsNotRepeated(t *testing.T) {
	t.Parallel()
	const cut = "afu22z-qdzchz-qjrbar-5poxip-ata6w2-xxz2tm"
	for _, c := range []struct{ arg, in, says string }{
		{cut, "", "no code: codes are copied whole"}, {"-", cut + "\n", "no code: codes are copied whole"}, {"/nowhere/at-all", "", "/nowhere/at-all is no folder"},
	} {
		a, _, _ := clitest.App()
		a.In = strings.NewReader(c.in)
		err := readTarget(newJoin(a), a, []string{c.arg}, new(api.ClusterJoin))
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), cut) {
			t.Errorf("%s: got %v", c.arg, err)
		}
	}
}
