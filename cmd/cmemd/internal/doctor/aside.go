package doctor

import (
	"context"
	"fmt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

func asideLine(f homedir.AsideFile) string {
	return fmt.Sprintf("%s (%s): %s", terminal.VisibleLine(f.Path), terminal.Size(f.Bytes), f.What)
}

// showAside names the files that were put out of use and kept.
func showAside(a *terminal.App, all []homedir.AsideFile) {
	for _, f := range all {
		a.Field("aside", asideLine(f))
		a.Field("  next", f.Next)
	}
}

// checkAside looks for files that were put out of use and kept: words that are forgotten may be in them still.
func checkAside(_ context.Context, x *examination) (out []finding) {
	for _, f := range x.paths.Aside() {
		say := note
		if f.Held {
			say = faulty
		}
		out = append(out, say(f.Next, "%s", asideLine(f)))
	}
	return out
}
