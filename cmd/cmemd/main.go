package main

import (
	"os"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/release"
)

// version is what a linker may set (-X main.version=0.1.0); without it Go's own record counts.
var version string

func main() {
	if len(os.Args) > 2 && os.Args[1] == "hook" {
		if call, ok := relay.ReadCall(os.Args[2:]); ok {
			relay.Main(call, release.Of(version)) // before anything else is built: an agent waits, and gets exit 0 whatever happens
			return
		}
	}
	os.Exit(run(release.Of(version), os.Args[1:]))
}
