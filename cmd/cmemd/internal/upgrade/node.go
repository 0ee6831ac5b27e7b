package upgrade

import (
	"context"
	"path/filepath"
	"strings"
)

// nodeManagers are those whose global packages lie in folders of their own, told by what is in the path of the program.
var nodeManagers = []struct {
	mark, name string
	add        []string
}{
	{"/pnpm/", "pnpm", []string{"pnpm", "add", "--global", "cmemd@latest"}},
	{"/.bun/", "bun", []string{"bun", "add", "--global", "cmemd@latest"}},
	{"/yarn/", "yarn", []string{"yarn", "global", "add", "cmemd@latest"}},
}

func fromNode(_ context.Context, m machine) (origin, bool) {
	path := filepath.ToSlash(m.self)
	if !strings.Contains(path, "/node_modules/") {
		return origin{}, false
	}
	return npmOrigin(m, path), true
}

// npmOrigin is the origin of what lies at or below a path with a node_modules in it.
func npmOrigin(m machine, path string) origin {
	above, _, _ := strings.Cut(path, "/node_modules")
	o := origin{Way: "npm", Title: "npm, installed globally", newest: []string{"npm", "view", "cmemd", "version"}}
	if strings.Contains(above, "/_npx/") {
		o.Way, o.Title, o.starts = "npx", "npx", true
		o.Commands = [][]string{{"npx", "--yes", "cmemd@latest", "start"}}
		return o
	}
	for _, manager := range nodeManagers {
		if strings.Contains(path, manager.mark) {
			o.Way, o.Title, o.Commands, o.program = manager.name, manager.name+", installed globally", [][]string{manager.add}, "cmemd"
			return o
		}
	}
	above = filepath.FromSlash(above)
	install := []string{"npm", "install", "--global", "cmemd@latest"}
	switch {
	case m.exists(filepath.Join(above, "package.json")): // whose files and lock file would change
		o.Title, o.Step = "npm, in the project at "+above, "`npm install cmemd@latest` in "+above+", then `npx cmemd start` there"
	case !m.writable(filepath.Join(above, "node_modules")):
		o.Step = "as a user who may write to " + above + ": " + line([][]string{install}) + ", then `cmemd start`"
	default:
		o.Commands = [][]string{install}
	}
	return o
}
