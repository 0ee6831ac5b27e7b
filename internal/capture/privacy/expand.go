package privacy

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	maxEntries  = 1000 // of a folder that are compared with a pattern
	maxExpanded = 64   // paths that one word is taken for
)

// expandWord looks whether a word names an ignored path, as the shell would read it.
func (l *inspection) expandWord(w string) {
	w = l.absolute(w)
	if !strings.ContainsAny(w, "*?[{") {
		if strings.IndexByte(w, '$') < 0 && len(w) <= maxPath && !strings.ContainsAny(w, "\n\x00") {
			l.ignored(w)
		}
		return
	}
	for _, one := range braces([]string{w}) {
		for _, p := range l.glob(one) {
			l.ignored(p)
		}
	}
}

// glob is the paths that a pattern stands for, as far as the folders in it are of a bearable size.
func (l *inspection) glob(pattern string) []string {
	paths := []string{""}
	if strings.HasPrefix(pattern, "/") {
		paths[0] = "/"
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" {
			continue
		}
		var next []string
		for _, p := range paths {
			next = append(next, l.matches(p, part)...)
		}
		paths = next[:min(len(next), maxExpanded)]
	}
	return paths
}

// matches are the paths in a folder that one part of a pattern stands for.
func (l *inspection) matches(folder, part string) (found []string) {
	if folder != "" && folder != "/" {
		folder += "/"
	}
	if !strings.ContainsAny(part, "*?[") {
		return []string{folder + part}
	}
	at := folder
	if !filepath.IsAbs(at) {
		at = filepath.Join(l.cwd, at)
	}
	if l.lookedUp++; l.lookedUp > maxLookedUp || !filepath.IsAbs(at) {
		return nil
	}
	f, err := os.Open(strings.TrimRight(at, "/") + string(filepath.Separator)) // of anything but a folder, a pipe say, that fails at once
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxEntries)
	for _, n := range names {
		if ok, err := path.Match(part, n); ok && err == nil && len(found) < maxExpanded && (n[0] != '.' || part[0] == '.') {
			found = append(found, folder+n)
		}
	}
	return found
}
