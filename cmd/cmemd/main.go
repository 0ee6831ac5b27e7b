package main

import (
	"os"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// version is set by the linker in releases.
var version = "dev"

func main() {
	if len(os.Args) > 2 && os.Args[1] == "hook" {
		if call, ok := relay.ReadCall(os.Args[2:]); ok {
			relay.Main(call, version) // before anything else is built: an agent waits, and gets exit 0 whatever happens
			return
		}
	}
	os.Exit(run(version, os.Args[1:]))
}
