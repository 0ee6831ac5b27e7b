package evidence

import "strings"

// Changed is what a client says that a command line did to one file.
type Changed struct {
	Path        string
	Created     bool
	Deleted     bool
	Plus, Minus int // lines, where the client shows them
}

// ChangedByShell returns what the client says of the files that a command line changed, at most 200; none of one that failed, or that
// moved the working tree to another commit: what stands there then is nobody's edit. Claude Code (2.1.332) has it as bashEditDiff, in its
// modes auto and bypassPermissions: of the first files their lines, of up to 200 their names.
func (c *Call) ChangedByShell() (all []Changed) {
	diff := c.out.get("basheditdiff")
	if c.kind != Command || c.Failed || !diff.object || runsGit(c.runs, "checkout", "switch", "stash", "pull", "merge", "rebase", "reset", "cherry-pick", "revert") {
		return nil
	}
	seen := map[string]bool{}
	add := func(f Changed) {
		if !strings.HasPrefix(f.Path, "/") && !isWindows(f.Path) { // a mark in the place of a name: clients name whole paths
			return
		}
		p, ok := cleanPath("", f.Path)
		if f.Path = p; ok && !seen[p] && len(all) < maxFiles {
			seen[p] = true
			all = append(all, f)
		}
	}
	for _, f := range diff.get("files").list {
		changed := Changed{Created: f.isTrue("created"), Deleted: f.isTrue("deleted")}
		if names := f.get("filepath").names(); len(names) == 1 {
			changed.Path = names[0]
		}
		for _, hunk := range f.get("hunks").list {
			for _, line := range hunk.get("lines").strings() {
				if strings.HasPrefix(line, "+") {
					changed.Plus++
				}
				if strings.HasPrefix(line, "-") {
					changed.Minus++
				}
			}
		}
		add(changed)
	}
	for _, name := range diff.get("changedfiles").names() {
		add(Changed{Path: name})
	}
	return all
}
