package main

import (
	"os"
	"runtime/debug"

	"github.com/cmemd/cmemd/internal/agents/relay"
)

// version is set by the linker in releases.
var version = "dev"

// versionOf is version, and where no linker set it what Go recorded of the module: `go install MODULE@VERSION` records that version, a
// build from a checkout the commit as a pseudo-version, where it knows it.
func versionOf(build *debug.BuildInfo, ok bool) string {
	if version != "dev" || !ok || build.Main.Version == "" || build.Main.Version == "(devel)" {
		return version
	}
	return build.Main.Version
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "hook" {
		if call, ok := relay.ReadCall(os.Args[2:]); ok {
			relay.Main(call, version) // before anything else is built: an agent waits, and gets exit 0 whatever happens
			return
		}
	}
	os.Exit(run(versionOf(debug.ReadBuildInfo()), os.Args[1:]))
}
