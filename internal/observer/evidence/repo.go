package evidence

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Repo is what a repository's own files say about it.
type Repo struct {
	Root      string // top level of the working tree, symbolic links resolved; the repository itself if it is bare
	CommonDir string // what worktrees share: usually Root/.git
	Branch    string // empty when HEAD is detached
	Head      string // full hash; empty before the first commit

	gitDir string // CommonDir, or this worktree's own folder in it
	bare   bool
}

// maxGitFile is how much of a file of git's is read: HEAD, commondir and loose references are far shorter.
const maxGitFile = 4 << 10

// unreadableRef is what HEAD names in a repository that keeps its references in tables.
const unreadableRef = "refs/heads/.invalid"

// askHead asks git for what the files do not tell; both are empty if it does not answer.
func (c Config) askHead(ctx context.Context, dir string) (branch, head string) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out, err := runGit(ctx, c, dir, "", maxGitFile, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	if err != nil {
		return "", ""
	}
	head, ref, _ := strings.Cut(strings.TrimSpace(out), "\n")
	branch, _ = strings.CutPrefix(ref, "refs/heads/")
	if branch == ref {
		branch = ""
	}
	return branch, head
}

func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// locate finds the repository of dir: the nearest folder upwards with a .git, else the nearest that is a bare one. A bare one inside
// another repository may have come with it, as files, and says nothing (git: safe.bareRepository=explicit).
func locate(dir string) (found Repo, ok bool) {
	if dir == "" {
		return Repo{}, false
	}
	for d := resolve(dir); ; d = filepath.Dir(d) {
		repo, is := repoAt(d)
		if is && !repo.bare {
			return repo, true
		}
		if is && !ok {
			found, ok = repo, true
		}
		if d == filepath.Dir(d) {
			return found, ok
		}
	}
}

func repoAt(dir string) (Repo, bool) {
	git := filepath.Join(dir, ".git")
	info, err := os.Stat(git)
	switch {
	case err == nil && info.IsDir() && isGitDir(git):
		return Repo{Root: dir, gitDir: git, CommonDir: commonDir(git)}, true
	case err == nil && info.Mode().IsRegular():
		rest, ok := strings.CutPrefix(readLine(git), "gitdir: ")
		rest = under(dir, rest)
		return Repo{Root: dir, gitDir: rest, CommonDir: commonDir(rest)}, ok && isFile(filepath.Join(rest, "HEAD"))
	case isGitDir(dir) && isFile(filepath.Join(dir, "config")):
		return Repo{Root: dir, gitDir: dir, CommonDir: dir, bare: true}, true
	}
	return Repo{}, false
}

func isGitDir(dir string) bool {
	return isFile(filepath.Join(dir, "HEAD")) && isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
}

func isFile(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.Mode().IsRegular()
}

func isFolder(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// commonDir is what the worktree behind gitDir shares with the others: gitDir itself, if it is the main one.
func commonDir(gitDir string) string {
	if rest := readLine(filepath.Join(gitDir, "commondir")); rest != "" {
		return resolve(under(gitDir, rest))
	}
	return gitDir
}

// under makes p, as a file in dir gives it, absolute.
func under(dir, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(dir, p)
}

// readLine returns the first line of a short file; "" if there is none.
func readLine(name string) string {
	line, _, _ := strings.Cut(readShort(name), "\n")
	return strings.TrimSpace(line)
}

// readShort returns the beginning of a file; "" if there is none.
func readShort(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	return string(b)
}

// readHead fills Branch and Head and returns the reference that HEAD names, if it does.
func (r *Repo) readHead() (ref string) {
	text := readLine(filepath.Join(r.gitDir, "HEAD"))
	ref, symbolic := strings.CutPrefix(text, "ref: ")
	if !symbolic {
		r.Head = fullHash(text)
		return ""
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && ref != unreadableRef {
		r.Branch = branch
	}
	r.Head = r.lookUp(ref)
	return ref
}

// lookUp resolves a reference, which may name another one.
func (r *Repo) lookUp(ref string) string {
	for range 5 {
		if !strings.HasPrefix(ref, "refs/") || strings.Contains(ref, "..") {
			return ""
		}
		text := readLine(filepath.Join(r.CommonDir, filepath.FromSlash(ref)))
		if text == "" {
			return packedRef(filepath.Join(r.CommonDir, "packed-refs"), ref)
		}
		next, symbolic := strings.CutPrefix(text, "ref: ")
		if !symbolic {
			return fullHash(text)
		}
		ref = next
	}
	return ""
}

func packedRef(file, ref string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if hash, name, _ := strings.Cut(lines.Text(), " "); name == ref {
			return fullHash(hash)
		}
	}
	return ""
}

// fullHash is s if it is a whole hash, else "".
func fullHash(s string) string {
	if (len(s) == 40 || len(s) == 64) && isLowerHex(s) {
		return s
	}
	return ""
}

// remoteOf reads the URL of origin, else of the first remote, out of a configuration file.
func remoteOf(config string) string {
	origin, first := "", ""
	eachSetting(config, func(section, key, value string) bool {
		remote := remoteName(section)
		if remote == "" || key != "url" {
			return true
		}
		if remote == "origin" {
			origin = withoutCredentials(value)
		}
		first = cmp.Or(first, withoutCredentials(value))
		return origin == ""
	})
	return cmp.Or(origin, first)
}

// mainWorktree is where a configuration file says that the working tree is; "" if it does not.
func mainWorktree(config string) (dir string) {
	eachSetting(config, func(section, key, value string) bool {
		if strings.EqualFold(section, "[core]") && key == "worktree" {
			dir = value
		}
		return true
	})
	return dir
}

// eachSetting calls visit for the settings of a configuration file of git's, their keys in lower case, until it returns
// false.
func eachSetting(config string, visit func(section, key, value string) bool) {
	f, err := os.Open(config)
	if err != nil {
		return
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(io.LimitReader(f, 1<<20)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && !visit(section, strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)) {
			return
		}
	}
}

// remoteName is NAME in [remote "NAME"], or "".
func remoteName(section string) string {
	kind, rest, ok := strings.Cut(strings.Trim(section, "[]"), " ")
	if !ok || !strings.EqualFold(kind, "remote") {
		return ""
	}
	return strings.Trim(strings.TrimSpace(rest), `"`)
}

// withoutCredentials drops what a URL says about who asks. The user of ssh is part of the address.
func withoutCredentials(remote string) string {
	u, err := url.Parse(remote)
	switch {
	case err != nil && strings.Contains(remote, "://"):
		scheme, rest, _ := strings.Cut(remote, "://")
		return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	case err != nil || u.User == nil:
		return remote
	case u.Scheme == "ssh":
		u.User = url.User(u.User.Username())
	default:
		u.User = nil
	}
	return u.String()
}

// isShallow reports whether the repository holds only the newest part of its history.
func (r Repo) isShallow() bool {
	info, err := os.Stat(filepath.Join(r.CommonDir, "shallow"))
	return err == nil && info.Size() > 0 || err != nil && !errors.Is(err, os.ErrNotExist)
}
