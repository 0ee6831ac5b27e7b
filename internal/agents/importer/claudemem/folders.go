package claudemem

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// folders collects where projects may be: the database names projects by the last part of their folder alone. By project and
// folder, how much speaks for it.
type folders map[string]map[string]int

// usedWeight is how much more the folder in which a tool was used says than a file that was named.
const usedWeight = 10

// maxFolders is how many folders of one project are kept in mind.
const maxFolders = 1000

// used takes a folder in which a tool was used.
func (f folders) used(project, cwd string) {
	dir := cut(project, cwd)
	if dir == "" && path.IsAbs(cwd) {
		dir = path.Clean(cwd)
	}
	f.vote(project, dir, usedWeight)
}

// files takes files that were named.
func (f folders) files(project string, files []string) {
	for _, file := range files {
		f.vote(project, cut(project, file), 1)
	}
}

func (f folders) vote(project, dir string, weight int) {
	if project == "" || dir == "" || len(dir) > 4096 {
		return
	}
	votes := f[project]
	if votes == nil {
		votes = map[string]int{}
		f[project] = votes
	}
	if _, known := votes[dir]; known || len(votes) < maxFolders {
		votes[dir] += weight
	}
}

// cut is the part of an absolute path up to the folder that the project is called after; empty: there is none.
func cut(project, file string) string {
	base := path.Base(project) // of a worktree, "parent/worktree": its own folder
	if !path.IsAbs(file) || base == "." || base == "/" || base == ".." {
		return ""
	}
	file = path.Clean(file)
	if strings.HasSuffix(file, "/"+base) {
		return file
	}
	i := strings.Index(file, "/"+base+"/")
	if i < 0 {
		return ""
	}
	return file[:i+1+len(base)]
}

// of is the folder for which most speaks, the shortest of equals; empty: nothing speaks for any.
func (f folders) of(project string) string {
	dirs := slices.SortedFunc(maps.Keys(f[project]), func(a, b string) int {
		return cmp.Or(cmp.Compare(f[project][b], f[project][a]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if len(dirs) == 0 {
		return ""
	}
	return dirs[0]
}
