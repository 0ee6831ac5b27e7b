// Command cmemd-hook is what agents start at every tool call: it carries one hook payload from standard input to the
// daemon and the daemon's reply back. It always exits 0, whatever happens: cmemd never breaks an agent.
package main

import (
	"fmt"
	"os"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/release"
)

// version is what a linker may set (-X main.version=0.1.0); without it Go's own record counts.
var version string

func main() {
	call, ok := relay.ReadCall(os.Args[1:])
	switch {
	case ok:
		relay.Main(call, release.Of(version))
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("cmemd-hook", release.Of(version))
	default:
		fmt.Fprintln(os.Stderr, "usage: cmemd-hook [--home DIR] AGENT < payload\n       cmemd-hook --version")
	}
}
