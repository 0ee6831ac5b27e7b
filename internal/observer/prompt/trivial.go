package prompt

import (
	"slices"
	"strings"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

// Trivial reports whether an input says nothing by itself, so that a line of it is enough and the cheapest model will do:
// a listing, a look at where one is, a file read or searched again with the same result as among earlier, an input whose
// payload was erased. It goes by the call's fields and programs alone. What failed, or may have changed a file, is not.
func Trivial(in observer.Input, earlier []events.Event) bool {
	call := in.Call()
	if call == nil {
		return in.Event == nil
	}
	shape := call.Shape()
	if shape.Failed {
		return false
	}
	switch shape.Kind {
	case evidence.Command:
		return !shape.Background && !call.MayChangeFiles() && onlyLists(call.Commands())
	case evidence.Search:
		return isListing(call.Tool) || repeats(call.ToolUsed, earlier)
	case evidence.Read:
		return repeats(call.ToolUsed, earlier)
	}
	return false
}

// repeats reports whether the same call had the same result before.
func repeats(t events.ToolUsed, earlier []events.Event) bool {
	return slices.ContainsFunc(earlier, func(e events.Event) bool {
		u, ok := e.(events.ToolUsed)
		return ok && u.Tool == t.Tool && u.Input == t.Input && u.Output == t.Output && !u.Failed
	})
}

// isListing is for the tools with which agents list files by name. Letter case and what stands between words differ.
func isListing(tool string) bool {
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool)) {
	case "ls", "glob", "list", "listdir", "listdirectory", "listfiles", "findfiles", "filesearch":
		return true
	}
	return false
}

// onlyLists reports whether each program of a command line lists, tells where one is, or shortens what another one lists.
func onlyLists(commands []evidence.Simple) bool {
	piped := false
	for _, s := range commands {
		if len(s.Scripts) > 0 || !lists(s) && !(piped && evidence.IsFilter(s.Words[0])) {
			return false
		}
		piped = s.Next == "|"
	}
	return true
}

func lists(s evidence.Simple) bool {
	switch s.Words[0] {
	case "ls", "ll", "dir", "tree", "pwd", "cd", "pushd", "popd", "find", "whoami", "hostname", "uname", "date", "which", "true", "clear", "echo":
		return true
	case "git":
		sub, _ := s.Git()
		return sub == "status" || sub == "rev-parse" || sub == "ls-files" // which tell where one is
	}
	return false
}
