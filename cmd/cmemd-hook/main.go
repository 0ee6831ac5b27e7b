// Command cmemd-hook is what agents start at every tool call: it carries one hook payload from standard input to the
// daemon and the daemon's reply back. It always exits 0, whatever happens: cmemd never breaks an agent.
package main

import (
	"fmt"
	"os"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	switch {
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("cmemd-hook", version)
	case len(os.Args) == 2 && os.Args[1] != "" && os.Args[1][0] != '-':
		relay.Main(os.Args[1], version)
	default:
		fmt.Fprintln(os.Stderr, "usage: cmemd-hook AGENT < payload\n       cmemd-hook --version")
	}
}
