package evidence

import (
	"strconv"
	"strings"
)

// patched returns the files that a patch changes: the headers of apply_patch, and pairs of --- and +++ lines of a
// unified diff. Lines of content never count: theirs begin with a blank, a plus or a minus, and a +++ counts only
// right behind a ---.
func patched(patch string) (files []string) {
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
