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
	"strings"
)

// fetcher tells whether a program prints or stores what another machine says, and which of its sub-commands do; none: all do. As their
// manuals have them in 2026.
func fetcher(name string) (verbs []string, ok bool) {
	switch name {
	case "curl", "wget", "http", "https", "xh", "aria2c", "lynx", "links", "w3m", "elinks":
		return nil, true
	case "gh", "glab":
		return []string{"api", "search", "view", "list", "diff", "status"}, true
	}
	return nil, false
}

// printers are programs that print the files that they are given.
func printers() []string {
	return []string{"cat", "bat", "head", "tail", "less", "more", "nl", "tac", "sed", "awk", "grep", "rg", "jq", "yq", "strings", "xxd", "od", "pandoc"}
}

// Fetches reports whether the call brought in what somebody else says, by its shape alone: a web page or search, the answer of
// another program's MCP server, what a command fetched from another machine. A call of this memory's own brings in nothing.
func (c *Call) Fetches() bool {
	switch {
	case c.Unobserved != "":
		return false
	case c.kind == Web:
		return !allLocal(c.in.get("url", "urls", "uri").strings())
	case c.kind == MCP:
		return true
	}
	return slices.ContainsFunc(c.runs, fetches)
}

func fetches(c Simple) bool {
	name, args := program(c.Words)
	verbs, ok := fetcher(name)
	if !ok {
		return false
	}
	words := operands(args)
	if len(verbs) > 0 {
		return slices.ContainsFunc(words[:min(len(words), 2)], func(w string) bool { return slices.Contains(verbs, w) })
	}
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.ContainsAny(w, ".:/$") })
	return len(words) > 0 && !allLocal(words)
}

// allLocal reports whether all of some addresses are of this machine; none are not.
func allLocal(addresses []string) bool {
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(a string) bool { return !isLocal(a) })
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

// Printed returns the files that the call may have printed: those that it read, and what a command that prints files was given.
// Of the latter some may be no files at all.
func (c *Call) Printed() []string {
	set := fileSet{cwd: c.folderOf(), list: c.read}
	for _, simple := range c.runs {
		if name, args := program(simple.Words); slices.Contains(printers(), name) {
			set.addAll(operands(args))
		}
	}
	return set.list
}

// Origin tells whose words files hold.
type Origin struct {
	Outside []string // outside the project's folder, or in it and not tracked by its git
	Known   bool     // false: git could not be asked about the rest
}

// Origins tells of files whose words they hold, for work in a folder. The project's folder is the working tree that cwd lies in, with its
// worktrees and submodules, else cwd itself. What is not there any more, and what is no file, is passed over. It asks git once a
// working tree, and gives up after Config.Timeout.
func (c *Checker) Origins(ctx context.Context, cwd string, names []string) (out Origin) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	own, inRepo := locate(cwd)
	trees := map[string]map[string]string{} // by root, the files in it as they were named, by their path below it
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		root, ok := resolve(cwd), true
		if inRepo {
			root, ok = own.treeOf(name)
		}
		below, err := filepath.Rel(root, resolve(name))
		if !ok || err != nil || !filepath.IsLocal(below) {
			out.Outside = append(out.Outside, name)
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

// treeOf is the working tree of r's project that a file lies in: its own, that of another worktree, or a submodule's.
func (r Repo) treeOf(file string) (root string, ok bool) {
	at, inRepo := locate(filepath.Dir(resolve(file)))
	if !inRepo {
		return "", false
	}
	modules := filepath.Join(r.CommonDir, "modules") + string(filepath.Separator)
	return at.Root, at.CommonDir == r.CommonDir || strings.HasPrefix(at.CommonDir, modules)
}

// maxTracked is how long git's list of tracked files may be: as many as are asked for, of paths as long as they may be.
const maxTracked = maxFiles * (maxPath + 1)

// tracked are those of some files below root that git tracks, with slashes; ok is false where it does not answer.
func (c *Checker) tracked(ctx context.Context, root string, files []string) (names map[string]bool, ok bool) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, false
	}
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--"}, files[:min(len(files), maxFiles)]...)
	said, err := runGit(ctx, c.cfg, root, "", maxTracked, args...)
	if err != nil || len(files) > maxFiles {
		return nil, false
	}
	names = map[string]bool{}
	for name := range strings.SplitSeq(said, "\x00") {
		names[path.Clean(name)] = true
	}
	return names, true
}
