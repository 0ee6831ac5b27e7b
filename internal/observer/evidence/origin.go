package evidence

import (
	"context"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fetcher tells whether a program prints or stores what another machine says, which of its sub-commands do (none: all do), and among how
// many of the first words they stand. As their manuals have them in 2026.
func fetcher(name string) (verbs []string, among int, ok bool) {
	switch name {
	case "curl", "wget", "http", "https", "xh", "aria2c", "lynx", "links", "w3m", "elinks":
		return nil, 0, true
	case "gh", "glab":
		return []string{"api", "search", "view", "list", "diff", "status", "clone"}, 2, true
	case "git":
		return []string{"clone"}, 1, true
	case "npm", "pnpm", "yarn", "cargo":
		return []string{"view", "info", "show", "search"}, 1, true
	}
	return nil, 0, false
}

// printsFiles tells whether a program prints the files that it is given, and whether its first operand is a pattern or a script instead.
func printsFiles(name string) (scriptFirst, ok bool) {
	switch name {
	case "cat", "bat", "head", "tail", "less", "more", "nl", "tac", "strings", "xxd", "od", "pandoc", "sort", "uniq", "cut", "column", "fold", "fmt",
		"paste", "comm", "diff", "cmp", "base64", "iconv", "zcat", "tar", "unzip", "xmllint":
		return false, true
	case "sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "jq", "yq":
		return true, true
	}
	return false, false
}

// gitPrints names the sub-commands of git that print what revisions hold.
func gitPrints(sub string) bool {
	switch sub {
	case "show", "log", "diff", "cat-file", "grep", "blame", "annotate", "whatchanged", "shortlog", "archive", "format-patch", "range-diff", "diff-tree":
		return true
	}
	return false
}

// Fetches reports whether the call brought in what somebody else says, by its shape alone: a web page or search, the answer of
// another program's MCP server, what a command fetched from another machine. A call of this memory's own brings in nothing,
// and neither does one that the person refused, or of a tool that does not exist.
func (c *Call) Fetches() bool {
	switch {
	case c.Unobserved != "", c.Refused, c.Failed && c.isNoTool():
		return false
	case c.kind == Web:
		return !allLocal(c.in.get("url", "urls", "uri").strings())
	case c.kind == MCP, c.named("mcp") && c.in.has("server"): // a tool of a server, or the agent's own, which reads one's resource
		return true
	}
	return slices.ContainsFunc(c.runs, fetches)
}

// noSuchTool is what an agent answers where a tool does not exist, before its name and behind it: Claude Code 2.1, recorded 2026.
var noSuchTool = [][2]string{{"<tool_use_error>Error: No such tool available: ", "</tool_use_error>"}}

// isNoTool reports whether all that the call was answered is that there is no such tool. Whoever writes that, it holds nobody's words.
func (c *Call) isNoTool() bool {
	said := strings.TrimSpace(c.outputText())
	return slices.ContainsFunc(noSuchTool, func(form [2]string) bool { return said == form[0]+c.Tool+form[1] })
}

// Delegated reports whether the call was a subagent's, or gave it work, or asked for its answer.
func (c *Call) Delegated() bool {
	return c.SubagentID != "" || c.kind == Task || c.named("task", "agent", "subagent")
}

func fetches(c Simple) bool {
	name, args := program(c.Words)
	verbs, among, ok := fetcher(name)
	if !ok {
		return false
	}
	words := operands(args)
	if len(verbs) > 0 {
		return slices.ContainsFunc(words[:min(len(words), among)], func(w string) bool { return slices.Contains(verbs, w) })
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.ContainsAny(w, ".:/$") })
	return len(words) > 0 && !allLocal(words)
}

// allLocal reports whether all addresses that were fetched are of this machine; without any they are not.
func allLocal(fetched []string) bool {
	return len(fetched) > 0 && !slices.ContainsFunc(fetched, func(a string) bool { return !isLocal(a) })
}

func isLocal(address string) bool {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || u.Scheme == "file" || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// Printed is what a call may have printed: files, and what git has of revisions. Some of the names may be none.
type Printed struct {
	Files     []string
	Revisions []Revisions
}

// Revisions are what a command of git was asked for.
type Revisions struct {
	Dir   string   // in which git worked
	Names []string // as git rev-list takes them; none: what stands in the working tree, or at HEAD
}

// Printed returns what the call may have printed: the files that it read, what it searched, and what a command was given that prints
// files or revisions. A command's file may lie in each folder that the command line went to before.
func (c *Call) Printed() Printed {
	set := fileSet{cwd: c.folderOf(), list: slices.Clip(c.read)}
	if c.kind == Search && !c.isAboutFolders() {
		set.addAll(c.paths())
	}
	out, folders := Printed{}, []string{set.cwd}
	for _, simple := range c.runs {
		name, args := program(simple.Words)
		words := operands(args)
		if (name == "cd" || name == "pushd") && len(words) > 0 {
			folders = append(folders, join(folders[len(folders)-1], inHome(words[0])))
		}
		if sub, args := simple.Git(); gitPrints(sub) && len(out.Revisions) < maxFiles {
			out.Revisions = append(out.Revisions, Revisions{gitFolder(folders[len(folders)-1], simple.Words), revisions(sub, args)})
		}
		scripted, prints := printsFiles(name)
		if !prints {
			continue
		}
		if scripted {
			words = words[min(len(words), 1):]
		}
		for _, set.cwd = range folders {
			for _, w := range words {
				set.addAll([]string{inHome(folderOfGlob(w))})
			}
		}
	}
	out.Files = set.list
	return out
}

// folderOfGlob is a path, or the folder in which the files of a pattern lie, without a slash at its end.
func folderOfGlob(p string) string {
	if i := strings.IndexAny(p, "*?["); i >= 0 {
		p = p[:strings.LastIndexByte(p[:i], '/')+1]
	}
	return strings.TrimRight(p, "/")
}

// inHome is a path with the mark ~ for the person's home, where it is written as a variable.
func inHome(p string) string {
	for _, home := range []string{"$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(p, home); ok && (rest == "" || rest[0] == '/') {
			return "~" + rest
		}
	}
	return p
}

// gitFolder is where a command of git works that is run in a folder.
func gitFolder(folder string, words []string) string {
	for i, w := range words {
		dir, ok := strings.CutPrefix(w, "--git-dir=")
		if (w == "-C" || w == "--git-dir") && i+1 < len(words) {
			dir, ok = words[i+1], true
		}
		if ok {
			folder = join(folder, inHome(dir))
		}
	}
	return folder
}

// revisions are the operands of a sub-command of git that may be revisions, as git rev-list takes them: without the path behind a colon.
// What git diff compares by two dots it prints of both, and by three of the second alone.
func revisions(sub string, args []string) (names []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	for _, w := range operands(args) {
		if !strings.HasPrefix(w, ":/") { // the newest commit that says so
			w, _, _ = strings.Cut(w, ":")
		}
		w, _, _ = strings.Cut(w, "^{")
		left, right, ranged := strings.Cut(w, "...")
		switch {
		case sub == "diff" && ranged:
			names = append(names, left+".."+right)
		case sub == "diff":
			names = append(names, strings.Split(w, "..")...)
		default:
			names = append(names, w)
		}
	}
	return slices.DeleteFunc(names, func(w string) bool { return w == "" || w == "HEAD" || w[0] == '-' }) // git must take none for an option
}

// Origin tells whose words files hold.
type Origin struct {
	Outside []string // outside the project's folder, or in it and not tracked by its git
	Known   bool     // false: git could not be asked about the rest
}

// Origins tells of files whose words they hold, for work in a folder. The project's folder is the working tree that cwd lies in, with its
// worktrees and submodules, else cwd itself. What is not there any more counts where it would not lie in that folder; within it that, and a
// folder, is passed over. It asks git once a working tree, and gives up after Config.Timeout.
func (c *Checker) Origins(ctx context.Context, cwd string, names []string) (out Origin) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	own, inRepo := locate(cwd)
	trees := map[string]map[string]string{} // by root, the files in it as they were named, by their path below it
	for _, name := range names {
		file := c.absolute(name)
		info, err := os.Stat(file)
		if err != nil && !isFolder(topOf(file)) {
			continue // a pattern, or a path of another machine
		}
		root, ok := resolve(cwd), true
		if inRepo {
			root, ok = own.treeOf(file)
		}
		below, errBelow := filepath.Rel(root, resolve(file))
		switch {
		case !ok || errBelow != nil || !filepath.IsLocal(below):
			out.Outside = append(out.Outside, name)
			continue
		case err != nil || !info.Mode().IsRegular():
			continue
		}
		if trees[root] == nil {
			trees[root] = map[string]string{}
		}
		trees[root][filepath.ToSlash(below)] = name
	}
	out.Known = len(trees) == 0 || inRepo && !own.bare
	for root, files := range trees {
		if !out.Known {
			break
		}
		var tracked map[string]bool
		tracked, out.Known = c.tracked(ctx, root, slices.Sorted(maps.Keys(files)))
		for below, name := range files {
			if out.Known && !tracked[below] {
				out.Outside = append(out.Outside, name)
			}
		}
	}
	slices.Sort(out.Outside)
	return out
}

// absolute is a path with the person's home in the place of its mark.
func (c *Checker) absolute(name string) string {
	rest, ok := strings.CutPrefix(name, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return name
	}
	for _, kv := range c.cfg.Env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && home != "" {
			return home + rest
		}
	}
	return name
}

// topOf is the folder at the top of a path.
func topOf(file string) string {
	volume := filepath.VolumeName(file)
	top, _, _ := strings.Cut(strings.TrimLeft(filepath.ToSlash(file[len(volume):]), "/"), "/")
	return volume + string(filepath.Separator) + top
}

// maxHeads is how many of the commits that HEAD was at count as the project's.
const maxHeads = 1000

// Foreign reports whether some revisions hold what is not the project's of a folder: those of another repository, and commits that were
// fetched and are on no branch and in no stash of its own, nor ever were at HEAD. known is false where git does not answer within
// Config.Timeout. Names that are no revisions count for nothing.
func (c *Checker) Foreign(ctx context.Context, cwd string, all []Revisions) (foreign, known bool) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	own, inRepo := locate(cwd)
	var names []string
	for _, r := range all {
		at, ok := locate(c.absolute(r.Dir))
		if ok && (!inRepo || at.CommonDir != own.CommonDir && !own.holds(at)) {
			return true, true
		}
		if ok && at.CommonDir == own.CommonDir {
			names = append(names, r.Names...)
		}
	}
	if names = names[:min(len(names), maxFiles)]; len(names) == 0 {
		return false, true
	}
	// Not git log: a repository's own configuration can have that start a program (log.showSignature, gpg.program).
	heads, err := c.git(ctx, own.Root, "rev-list", "-g", "-n", strconv.Itoa(maxHeads), "HEAD", "--")
	if err != nil {
		return false, false
	}
	args := append([]string{"rev-list", "-n", "1", "--ignore-missing"}, names...)
	args = append(args, "--not", "--branches", "--glob=refs/stas[h]", "HEAD")
	found, err := c.git(ctx, own.Root, append(append(args, strings.Fields(heads)...), "--")...)
	return found != "", err == nil
}

// git runs git in a folder, one of Config.Processes at once.
func (c *Checker) git(ctx context.Context, dir string, args ...string) (string, error) {
	if err := c.slots.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer c.slots.Release(1)
	return runGit(ctx, c.cfg, dir, "", maxTracked, args...)
}

// treeOf is the working tree of r's project that a file lies in: its own, that of another worktree, or a submodule's.
func (r Repo) treeOf(file string) (root string, ok bool) {
	dir := resolve(file)
	if !isFolder(dir) {
		dir = filepath.Dir(dir)
	}
	at, inRepo := locate(dir)
	return at.Root, inRepo && (at.CommonDir == r.CommonDir || r.holds(at))
}

// holds reports whether another repository is a submodule of r.
func (r Repo) holds(at Repo) bool {
	return strings.HasPrefix(at.CommonDir, filepath.Join(r.CommonDir, "modules")+string(filepath.Separator))
}

// maxTracked is how long git's list of tracked files may be: as many as are asked for, of paths as long as they may be.
const maxTracked = maxFiles * (maxPath + 1)

// tracked are those of some files below root that git tracks, with slashes; ok is false where it does not answer.
func (c *Checker) tracked(ctx context.Context, root string, files []string) (names map[string]bool, ok bool) {
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--"}, files[:min(len(files), maxFiles)]...)
	said, err := c.git(ctx, root, args...)
	if err != nil || len(files) > maxFiles {
		return nil, false
	}
	names = map[string]bool{}
	for name := range strings.SplitSeq(said, "\x00") {
		names[path.Clean(name)] = true
	}
	return names, true
}
