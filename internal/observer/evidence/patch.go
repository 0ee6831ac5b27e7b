package evidence

import (
	"slices"
	"strconv"
	"strings"
)

// patchedFiles returns the files that a patch changes: the headers of apply_patch, and pairs of --- and +++ lines of a
// unified diff. Lines of content never count: theirs begin with a blank, a plus or a minus, and a +++ counts only
// right behind a ---.
func patchedFiles(patch string) (files []string) {
	if !strings.Contains(patch, "*** ") && !strings.Contains(patch, "+++ ") && !strings.Contains(patch, "rename to ") {
		return nil
	}
	before := ""
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if f := patchHeader(line); f != "" {
			files = append(files, f)
		}
		if after, ok := strings.CutPrefix(line, "+++ "); ok && before != "" {
			files = append(files, diffSides(before, after)...)
		}
		before, _ = strings.CutPrefix(line, "--- ")
		if before == line {
			before = ""
		}
		if len(files) >= maxFiles {
			return files[:maxFiles]
		}
	}
	return files
}

func patchHeader(line string) string {
	for _, h := range []string{
		"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "rename from ", "rename to ",
	} {
		if f, ok := strings.CutPrefix(line, h); ok {
			return strings.TrimSpace(f)
		}
	}
	return ""
}

// diffSides is the file behind a pair of lines: the new side, or the old one where the file went.
func diffSides(before, after string) []string {
	file := diffName(after, "b/")
	if file == "/dev/null" {
		file = diffName(before, "a/")
	}
	if file == "/dev/null" {
		return nil
	}
	return []string{file}
}

func diffName(s, prefix string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if plain, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		s = plain
	}
	return strings.TrimPrefix(s, prefix)
}

// shellPatch are the patches that a command line applies: to apply_patch, git apply or patch, from a here-document or
// an argument.
func (c *Call) shellPatch() []string {
	const begin = "*** Begin Patch"
	line := c.command
	if strings.HasPrefix(strings.TrimSpace(line), begin) { // a client that calls its patches commands
		return []string{line}
	}
	if i := strings.Index(line, begin); i >= 0 && slices.ContainsFunc(commands(line), isApplyPatch) {
		return []string{line[i:]}
	}
	if strings.Contains(line, "\n+++ ") && slices.ContainsFunc(commands(line), appliesDiff) {
		return []string{line}
	}
	return nil
}

func isApplyPatch(c Simple) bool {
	name, _ := program(c.Words)
	return name == "apply_patch" || name == "applypatch"
}

// appliesDiff reports whether c applies a unified diff to the working tree, rather than only looking at it.
func appliesDiff(c Simple) bool {
	name, args := program(c.Words)
	sub, subArgs := c.Git()
	if sub == "apply" || sub == "am" {
		name, args = "patch", subArgs
	}
	return name == "patch" && !slices.ContainsFunc(args, func(a string) bool {
		switch a {
		case "--check", "--stat", "--numstat", "--summary", "--dry-run", "--cached":
			return true
		}
		return false
	})
}

// shellFolder is the folder that a command line goes to before it does anything else, or "".
func shellFolder(line string) string {
	if cmds := Split(line); len(cmds) > 1 && cmds[0].Next == "&&" && len(cmds[0].Words) == 2 && cmds[0].Words[0] == "cd" {
		return cmds[0].Words[1]
	}
	return ""
}

// patches are the patch bodies that the call carries.
func (c *Call) patches() []string {
	candidates := append(c.in.get("patch").strings(), c.in.get("patchtext", "input", "diff").strings()...)
	for _, e := range c.in.get("edits").list {
		candidates = append(candidates, e.get("patch").strings()...)
	}
	candidates = append(candidates, c.shellPatch()...)
	if !c.in.object {
		candidates = append(candidates, c.Input)
		if c.in.text {
			candidates = append(candidates, c.in.String())
		}
	}
	return slices.DeleteFunc(candidates, func(p string) bool { return len(patchedFiles(p)) == 0 })
}
