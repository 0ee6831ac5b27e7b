package evidence

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// ProjectFile is the name of a file that says of its folder, and of all below it, which project they are: its first line
// that is no comment (#) is the project's name, and folders of one name claim to be one project. Without a line the folder is
// a project of its own.
const ProjectFile = ".cmemd-project"

// Project is what a folder says that work in it belongs to. Who reads it decides whether that is so: a repository is somebody's,
// and says of itself what it likes.
type Project struct {
	Name string // what people call it: as its ProjectFile says, else the base name of Root
	Root string // absolute, symbolic links resolved: the folder that the repository's worktrees share, or the folder itself
	Key  string // what it claims to be: two folders that claim the same say that they are one project, whatever they are called

	// Above is the folder of the ProjectFile that says so, if no repository holds it: a repository below cannot have put it there.
	Above string
	// Own says that a ProjectFile without a name makes Root a project of its own.
	Own bool
}

// ProjectOf tells which project cwd claims to belong to. It goes by, in this order: a ProjectFile in cwd or above it; the
// repository's remote, so that clones elsewhere claim the same; what the repository's worktrees share; the folder.
// A remote that is a path on this machine is none. It reads files only, and it is the one place that reads this.
func ProjectOf(cwd string) Project {
	here := resolve(cwd)
	repo, inRepo := locate(cwd)
	p := Project{Root: here, Key: "dir:" + here}
	if inRepo {
		p.Root, p.Key = repo.projectRoot(), "dir:"+repo.CommonDir
		if remote := NormalRemote(remoteOf(filepath.Join(repo.CommonDir, "config"))); remote != "" {
			p.Key = "remote:" + remote
		}
	}
	p.Name = strings.TrimSuffix(filepath.Base(p.Root), ".git")
	dir, name, ok := "", "", false
	if inRepo {
		dir, name, ok = projectFile(here, repo.Root)
		here = p.Root
	}
	if !ok {
		dir, name, ok = projectFile(here, "")
	}
	if ok {
		p.override(repo, dir, name)
	}
	return p
}

// override makes p what the ProjectFile in dir says. One at the repository's top or above it names the whole repository;
// one below stands in every worktree, at the same place.
func (p *Project) override(repo Repo, dir, name string) {
	shared := dir
	if rest, err := filepath.Rel(repo.Root, dir); repo.Root != "" && err == nil && filepath.IsLocal(rest) {
		shared = filepath.Join(p.Root, rest)
	} else if _, held := locate(dir); !held {
		p.Above = dir
	}
	if repo.Root == "" || len(shared) > len(p.Root) {
		p.Root = shared
	}
	p.Name, p.Key = filepath.Base(shared), "dir:"+shared
	if name != "" {
		p.Name, p.Key = name, "name:"+name
	}
	p.Own = name == "" && shared == p.Root
}

// maxProjectName is the longest name that a ProjectFile may give, in bytes.
const maxProjectName = 100

// projectFile finds the nearest ProjectFile in dir or above it, up to top; an empty top is that of the file system. Then
// those in folders that everybody may write to are somebody else's word, and pass for none.
func projectFile(dir, top string) (folder, name string, ok bool) {
	for ; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ProjectFile)
		if isFile(file) && (top != "" || !isWorldWritable(dir)) {
			return dir, projectName(readShort(file)), true
		}
		if dir == top || dir == filepath.Dir(dir) {
			return "", "", false
		}
	}
}

func isWorldWritable(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0
}

// projectName is the first line of text that says something, as a name: of what can be seen, on one line, and no path, which would
// be another folder's.
func projectName(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == '\\' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, ""))
		if line = strings.TrimLeft(strings.TrimSpace(line), "/"); line == "" || line[0] == '#' {
			continue
		}
		return strings.ToValidUTF8(line[:min(len(line), maxProjectName)], "")
	}
	return ""
}

// projectRoot is the main worktree's folder. Submodules and repositories whose data lie elsewhere are their own, and so is what
// only says itself that it is a worktree.
func (r Repo) projectRoot() string {
	if r.gitDir == r.CommonDir && !r.bare || r.gitDir != r.CommonDir && !r.isNamedBack() {
		return r.Root
	}
	if main := mainWorktree(filepath.Join(r.CommonDir, "config")); main != "" && !r.bare {
		main = resolve(under(r.CommonDir, main)) // a submodule's data lie in those of the repository above it
		if at, ok := repoAt(main); ok && resolve(at.CommonDir) == resolve(r.CommonDir) {
			return main
		}
		return r.Root
	}
	if strings.HasPrefix(filepath.Base(r.CommonDir), ".") { // .git, or .bare with the worktrees beside it
		return filepath.Dir(r.CommonDir)
	}
	return r.CommonDir
}

// isNamedBack reports whether the repository whose worktree r says that it is has a folder for it, and names r there: files in r
// alone would be r's own word.
func (r Repo) isNamedBack() bool {
	own := resolve(r.gitDir)
	if filepath.Dir(own) != filepath.Join(resolve(r.CommonDir), "worktrees") {
		return false
	}
	back := readLine(filepath.Join(own, "gitdir"))
	return back != "" && filepath.Base(back) == ".git" && resolve(filepath.Dir(under(own, back))) == r.Root
}

// NormalRemote is the address of a repository without what differs between two ways to reach it: HOST/PATH, without
// scheme, user, usual port and .git. It is empty for what is on this machine, and for what is no address.
func NormalRemote(remote string) string {
	host, path := splitRemote(strings.TrimSpace(remote))
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	path = strings.TrimRight(path, "/")
	if host == "" || path == "" {
		return ""
	}
	switch host {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org": // letter case makes no difference there
		path = strings.ToLower(path)
	}
	return host + "/" + path
}

// splitRemote takes a URL or user@host:path apart; host is empty for anything else.
func splitRemote(remote string) (host, path string) {
	if scheme, _, ok := strings.Cut(remote, "://"); ok {
		u, err := url.Parse(remote)
		if err != nil || scheme == "file" {
			return "", ""
		}
		host = u.Hostname()
		if port := u.Port(); port != "" && !isUsualPort(port) {
			host += ":" + port
		}
		return host, u.Path
	}
	host, path, ok := strings.Cut(remote, ":")
	if !ok || strings.ContainsAny(host, `/\`) || len(host) < 2 { // a path, or a drive
		return "", ""
	}
	return host[strings.LastIndexByte(host, '@')+1:], path
}

// isUsualPort reports whether port is one that addresses leave out: of ssh, git, http or https.
func isUsualPort(port string) bool {
	switch port {
	case "22", "80", "443", "9418":
		return true
	}
	return false
}
