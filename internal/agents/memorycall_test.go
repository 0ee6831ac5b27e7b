package agents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a call of this memory's own asks for is known by name; what it says is not kept.
func TestNamedBy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, input string
		want        []string
	}{
		{"mcp__cmemd__get", `{"ids":["m41","01A21634-3141","m41","the cart", 7]}`, []string{"m41", "01a21634-3141"}},
		{"mcp__cmemd__why", `{"id":"M7"}`, []string{"m7"}},
		{"mcp__cmemd__search", `{"query":"deadbeef m41"}`, nil},
		{"mcp__cmemd__forget", `{"ids":["m41"],"reason":"wrong"}`, nil},
		{"Bash", `{"command":"cd /src && cmemd show m41 01a21634 | head; cmemd why m8 --json"}`, []string{"m41", "01a21634", "m8"}},
		{"Bash", `{"command":"cmemd search deadbeef; cmemd forget m41; cmemd timeline m3"}`, nil},
		{"Bash", `{"command":"cmemd show the-cart m m4x 0123456 --as-of m"}`, nil},
		{"Bash", `{"command":"CMEMD_HOME=/h /usr/bin/cmemd show m5"}`, []string{"m5"}},
		{"Bash", `{"command":"cmemd --home /h show m5; cmemd --home"}`, []string{"m5"}},
		{"Bash", `{"command":"cmemd"}`, nil},
		{"Bash", `{"command":"cmemd show ` + strings.Repeat("x", maxCommandLine) + ` m1"}`, nil},
		{"get", `{"ids":"m41"}`, nil},
		{"get", `{"ids":{"m41":1},"id":["m2"]}`, nil},
		{"get", `not json`, nil},
		{"get", `{"id":"m` + strings.Repeat("1", 40) + `"}`, nil},
	} {
		if diff := cmp.Diff(c.want, namedBy(c.tool, []byte(c.input))); diff != "" {
			t.Errorf("%s %.80s (-want +got):\n%s", c.tool, c.input, diff)
		}
	}
	var many []string
	for i := range 2 * maxNamed {
		many = append(many, fmt.Sprintf(`"m%d"`, i))
	}
	if got := namedBy("get", []byte(`{"ids":[`+strings.Join(many, ",")+`]}`)); len(got) != maxNamed {
		t.Errorf("%d names are kept, want %d", len(got), maxNamed)
	}
}
