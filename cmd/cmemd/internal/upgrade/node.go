package upgrade

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
)

// nodeManagers are the folders in which package managers of Node.js keep what they installed for the whole machine, or fetched only to run
// it, as their pages and issues show paths (November 2026), with the commands that bring a newer one.
var nodeManagers = []struct {
	folder *regexp.Regexp
	name   string
	run    string
	bin    string // prints the folder of the programs that are installed; empty: it was fetched to be run, and run replaces the daemon
}{
	{regexp.MustCompile(`/_npx/`), "npx", "npx --yes cmemd@latest start", ""},
	{regexp.MustCompile(`/pnpm/dlx/|/tmp/dlx-\d+/`), "pnpm dlx", "pnpm dlx cmemd@latest start", ""},
	{regexp.MustCompile(`/xfs-[^/]+/dlx-\d+/`), "yarn dlx", "yarn dlx cmemd@latest start", ""},
	{regexp.MustCompile(`/bunx-[^/]+/node_modules/`), "bunx", "bunx cmemd@latest start", ""},
	{regexp.MustCompile(`/pnpm/global/|/global/\d+/\.pnpm/|/global/v\d+/`), "pnpm", "pnpm add --global cmemd@latest", "pnpm bin --global"},
	{regexp.MustCompile(`/install/global/node_modules/`), "bun", "bun add --global cmemd@latest", "bun pm bin --global"},
	{regexp.MustCompile(`/[Yy]arn/(Data/)?global/node_modules/`), "yarn", "yarn global add cmemd@latest", "yarn global bin"},
}

func fromNode(_ context.Context, m machine) (origin, bool) {
	path := filepath.ToSlash(m.self)
	if !strings.Contains(path, "/node_modules/") {
		return origin{}, false
	}
	return npmOrigin(m, path), true
}

// npmOrigin is the origin of a program at a path with a node_modules in it.
func npmOrigin(m machine, path string) origin {
	newest := []string{"npm", "view", "cmemd", "version"}
	for _, manager := range nodeManagers {
		if !manager.folder.MatchString(path) {
			continue
		}
		o := origin{Way: manager.name, Title: manager.name, Commands: [][]string{strings.Fields(manager.run)}, newestCommand: newest, restartsDaemon: true}
		if manager.bin != "" {
			o.Title, o.restartsDaemon, o.binCommand, o.program = manager.name+", installed globally", false, strings.Fields(manager.bin), "cmemd"
		}
		return o
	}
	above, _, _ := strings.Cut(path, "/node_modules")
	above = filepath.FromSlash(above)
	o := origin{Way: "npm", Title: "npm, installed globally", newestCommand: newest}
	prefix, global := strings.CutSuffix(above, string(filepath.Separator)+"lib")
	global = global || filepath.Ext(m.self) == ".exe"
	install := []string{"npm", "install", "--global", "--prefix", prefix, "cmemd@latest"}
	switch {
	case strings.Contains(path, "/links/@cmemd/"): // pnpm 11 keeps here what is global, and what projects have that want so
		o.Way, o.Title = "pnpm", "pnpm"
		o.Step = "`pnpm add --global cmemd@latest`, or without --global in the project that has it; then `cmemd start`"
	case m.exists(filepath.Join(above, "package.json")): // whose files and lock file would change
		o.Title, o.Step = "npm, in the project at "+above, "`npm install cmemd@latest` in "+above+", then `npx cmemd start` there"
	case !global:
		o.Title, o.Step = "npm, in "+above, "upgrade it in "+above+" as it was installed there, then `cmemd start`"
	case !m.writable(filepath.Join(above, "node_modules")):
		o.Step = "as a user who may write to " + above + ": " + commandLine([][]string{install}) + ", then `cmemd start`"
	default:
		o.Commands = [][]string{install}
	}
	return o
}
