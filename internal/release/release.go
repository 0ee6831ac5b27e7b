package release

import (
	"runtime/debug"
	"strings"
)

// Unknown is the version of a program of which nobody recorded one.
const Unknown = "dev"

// Of is the version of this program, as 0.1.0 is written, without a v in front: stamp, which a linker set, or where it is empty what Go
// recorded. `go install MODULE@VERSION` and a build at a tag record that version; a build of another commit records a pseudo-version
// (0.1.1-0.20260131120000-abcdef123456), behind which +dirty stands where files were changed.
func Of(stamp string) string {
	return of(stamp, func() (*debug.BuildInfo, bool) { return debug.ReadBuildInfo() })
}

func of(stamp string, read func() (*debug.BuildInfo, bool)) string {
	if stamp == "" {
		if build, ok := read(); ok {
			stamp = Recorded(build)
		}
	}
	return Plain(stamp)
}

// Recorded is the version that Go recorded in a program, as it is written there; empty where it recorded none.
func Recorded(build *debug.BuildInfo) string {
	if build.Main.Version == "(devel)" {
		return ""
	}
	return build.Main.Version
}

// Plain is a version as this module's programs write theirs: Go's without its v, and Unknown for an empty one.
func Plain(version string) string {
	if rest, ok := strings.CutPrefix(version, "v"); ok && rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		return rest
	}
	if version == "" {
		return Unknown
	}
	return version
}
