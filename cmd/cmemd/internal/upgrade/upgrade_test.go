package upgrade

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// A layout is what lies on a disk, below a folder of the test's that stands for the top.
type layout struct {
	self  string            // the program
	files map[string]string // beside it
	tools map[string]string // programs on PATH, as shell scripts; each notes how it was called before
	build *debug.BuildInfo
	from  string   // the folder that the program was built from
	of    string   // the version of the program; empty: 0.1.0
	kept  []string // folders that this user may not write to
}

// lay makes a layout, and returns the machine that has it, with its PATH, and the file in which tools note their calls.
func (l layout) lay(t *testing.T) (m machine, calls string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("tools are shell scripts here")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	calls = filepath.Join(root, "calls")
	put := func(path, text string, mode os.FileMode) {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(strings.ReplaceAll(text, "ROOT", root)), mode)); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range l.files {
		put(path, text, 0o755)
	}
	if l.files[l.self] == "" {
		put(l.self, "#!/bin/sh\n", 0o755)
	}
	for name, script := range l.tools {
		put("tools/"+name, "#!/bin/sh\necho \"${0##*/} $*\" >> "+calls+"\n"+script+"\n", 0o755)
	}
	t.Setenv("PATH", filepath.Join(root, "tools")+":/bin:/usr/bin")
	below := func(path string) bool { return exists(filepath.Join(root, "tools", path)) }
	m = machine{
		self: filepath.Join(root, l.self), root: root, version: cmp.Or(l.of, "0.1.0"), build: l.build, exists: exists, output: output,
		writable: func(dir string) bool {
			for _, kept := range l.kept {
				if dir == filepath.Join(root, kept) {
					return false
				}
			}
			return writable(dir)
		},
		lookPath: func(name string) (string, error) { // those of the machine that runs the test are not looked at
			if !below(name) {
				return "", exec.ErrNotFound
			}
			return exec.LookPath(name)
		},
	}
	if l.from != "" {
		m.source = filepath.Join(root, l.from)
	}
	return m, calls
}

func source(way, path string) string {
	return `{"format": 1, "way": "` + way + `", "version": "0.1.0", "path": "` + path + `", "programs": ["cmemd"]}`
}

// TestOrigins lays out each way by which a copy comes, and looks what is said of it.
func TestOrigins(t *testing.T) {
	fetched := &debug.BuildInfo{Main: debug.Module{Path: "github.com/cmemd/cmemd", Version: "v0.1.0", Sum: "h1:x"}}
	built := &debug.BuildInfo{Main: debug.Module{Path: "github.com/cmemd/cmemd", Version: "v0.1.0"}}
	all := map[string]string{"npm": "", "npx": "", "pnpm": "", "bun": "", "yarn": "", "bunx": "", "brew": "", "go": "", "curl": "", "sh": "", "dpkg-query": "exit 1", "rpm": "echo not owned; exit 1"}
	with := func(name, script string) map[string]string {
		tools := map[string]string{}
		for k, v := range all {
			tools[k] = v
		}
		tools[name] = script
		return tools
	}
	const platform = "node_modules/@cmemd/linux-x64/bin/cmemd"
	type way struct {
		layout
		way, commands, step, program string
	}
	copied := func(from, by, commands string) way {
		files := map[string]string{"home/cmemd/bin/source.json": source("npm", "ROOT/"+from+"/"+filepath.Dir(platform))}
		return way{layout: layout{self: "home/cmemd/bin/cmemd", files: files}, way: by, commands: commands, program: "cmemd"}
	}
	for name, c := range map[string]way{
		"npm, global":          {layout: layout{self: "usr/lib/" + platform}, way: "npm", commands: "`npm install --global --prefix ROOT/usr cmemd@latest`"},
		"npm, global, root's":  {layout: layout{self: "usr/lib/" + platform, kept: []string{"usr/lib/node_modules"}}, way: "npm", step: "as a user who may write to ROOT/usr/lib: `npm install --global --prefix ROOT/usr cmemd@latest`, then `cmemd start`"},
		"npm, in a project":    {layout: layout{self: "src/shop/" + platform, files: map[string]string{"src/shop/package.json": "{}"}}, way: "npm", step: "`npm install cmemd@latest` in ROOT/src/shop, then `npx cmemd start` there"},
		"npx":                  {layout: layout{self: "home/.npm/_npx/0a1b/" + platform, files: map[string]string{"home/.npm/_npx/0a1b/package.json": "{}"}}, way: "npx", commands: "`npx --yes cmemd@latest start`"},
		"npx, copied":          {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": source("npm", "ROOT/gone/_npx/0a1b/node_modules/@cmemd/linux-x64/bin")}}, way: "npx", commands: "`npx --yes cmemd@latest start`"},
		"npm, global, copied":  {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": source("npm", "ROOT/n/lib/node_modules/@cmemd/linux-x64/bin"), "n/lib/" + platform: "x"}}, way: "npm", commands: "`npm install --global --prefix ROOT/n cmemd@latest`", program: "ROOT/n/lib/" + platform},
		"pnpm":                 {layout: layout{self: "home/.local/share/pnpm/global/5/.pnpm/@cmemd+linux-x64@0.1.0/" + platform}, way: "pnpm", commands: "`pnpm add --global cmemd@latest`", program: "cmemd"},
		"bun":                  {layout: layout{self: "home/.bun/install/global/" + platform}, way: "bun", commands: "`bun add --global cmemd@latest`", program: "cmemd"},
		"yarn":                 {layout: layout{self: "home/.config/yarn/global/" + platform}, way: "yarn", commands: "`yarn global add cmemd@latest`", program: "cmemd"},
		"pnpm, copied":         copied("home/.local/share/pnpm/global/5/.pnpm/@cmemd+linux-x64@0.1.0", "pnpm", "`pnpm add --global cmemd@latest`"),
		"pnpm of a folder":     copied("opt/tools/global/5/.pnpm/@cmemd+linux-x64@0.1.0", "pnpm", "`pnpm add --global cmemd@latest`"),
		"pnpm 11":              {layout: layout{self: "home/.local/share/pnpm/global/v11/0a1b/" + platform}, way: "pnpm", commands: "`pnpm add --global cmemd@latest`", program: "cmemd"},
		"pnpm 11's store":      {layout: layout{self: "home/.local/share/pnpm/store/v11/links/@cmemd/linux-x64/0.1.0/0a1b/" + platform}, way: "pnpm", step: "`pnpm add --global cmemd@latest`, or without --global"},
		"bun, copied":          copied("home/.bun/install/global", "bun", "`bun add --global cmemd@latest`"),
		"yarn, copied":         copied("home/.config/yarn/global", "yarn", "`yarn global add cmemd@latest`"),
		"pnpm dlx":             {layout: layout{self: "home/.cache/pnpm/dlx/0a1b/18f/node_modules/.pnpm/@cmemd+linux-x64@0.1.0/" + platform}, way: "pnpm dlx", commands: "`pnpm dlx cmemd@latest start`"},
		"bunx":                 {layout: layout{self: "tmp/bunx-1000-cmemd@latest/" + platform}, way: "bunx", commands: "`bunx cmemd@latest start`"},
		"yarn dlx":             {layout: layout{self: "tmp/xfs-0a1b/dlx-77/.yarn/unplugged/x/" + platform}, way: "yarn dlx", commands: "`yarn dlx cmemd@latest start`"},
		"a project in yarn":    {layout: layout{self: "home/yarn/shop/" + platform, files: map[string]string{"home/yarn/shop/package.json": "{}"}}, way: "npm", step: "`npm install cmemd@latest` in ROOT/home/yarn/shop,"},
		"a project in pnpm":    {layout: layout{self: "src/pnpm/shop/node_modules/.pnpm/@cmemd+linux-x64@0.1.0/" + platform, files: map[string]string{"src/pnpm/shop/package.json": "{}"}}, way: "npm", step: "`npm install cmemd@latest` in ROOT/src/pnpm/shop,"},
		"a folder of nobody":   {layout: layout{self: "home/pnpm/shop/" + platform}, way: "npm", step: "upgrade it in ROOT/home/pnpm/shop as it was installed there"},
		"npm that is gone":     {layout: layout{self: "usr/lib/" + platform, tools: map[string]string{"sh": ""}}, way: "npm", step: "`npm install --global --prefix ROOT/usr cmemd@latest`; npm is not on this PATH"},
		"Homebrew":             {layout: layout{self: "opt/homebrew/Cellar/cmemd/0.1.0/bin/cmemd"}, way: "homebrew", commands: "`brew update`, then `brew upgrade cmemd`", program: "ROOT/opt/homebrew/bin/cmemd"},
		"deb":                  {layout: layout{self: "usr/bin/cmemd", tools: with("dpkg-query", `echo "cmemd: $2"`)}, way: "deb", step: "as root: `apt-get install ./FILE.deb`"},
		"rpm":                  {layout: layout{self: "usr/bin/cmemd", tools: with("rpm", "echo cmemd-0.1.0-1.x86_64")}, way: "rpm", step: "as root: `dnf install ./FILE.rpm`"},
		"image":                {layout: layout{self: "usr/bin/cmemd", files: map[string]string{"run/.containerenv": "x"}, tools: map[string]string{}}, way: "image", step: "pull the newer image"},
		"deb in a container":   {layout: layout{self: "usr/bin/cmemd", files: map[string]string{".dockerenv": "x"}, tools: with("dpkg-query", `echo "cmemd: $2"`)}, way: "deb", step: "as root"},
		"go in a container":    {layout: layout{self: "root/go/bin/cmemd", files: map[string]string{".dockerenv": "x"}, build: fetched}, way: "go", commands: "`go install github.com/cmemd/cmemd/cmd/cmemd@latest github.com/cmemd/cmemd/cmd/cmemd-hook@latest`"},
		"go with sqlite":       {layout: layout{self: "go/bin/cmemd", files: map[string]string{"go/bin/cmemd-sqlite": "x"}, build: fetched}, way: "go", commands: "`go install github.com/cmemd/cmemd/cmd/cmemd@latest github.com/cmemd/cmemd/cmd/cmemd-hook@latest`, then `go install github.com/cmemd/cmemd/cmd/cmemd-sqlite@latest`"},
		"a clone":              {layout: layout{self: "go/bin/cmemd", files: map[string]string{"src/cmemd/go.mod": "module x"}, build: built, from: "src/cmemd"}, way: "clone", step: "in the clone: `git pull --ff-only`"},
		"an unknown clone":     {layout: layout{self: "home/bin/cmemd", build: built, of: "0.1.1-0.20260131120000-abcdefabcdef"}, way: "clone", step: "in the clone"},
		"a clone, copied":      {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": source("go", "ROOT/gone")}}, way: "clone", step: "in the clone"},
		"a clone that is gone": {layout: layout{self: "go/bin/cmemd", build: built, from: "src/cmemd"}, way: "archive", commands: "`curl -fsSL --proto =https -o install.sh " + scriptSource + "`, then `sh install.sh --to ROOT/go/bin`"},
		"the install script":   {layout: layout{self: "home/.local/bin/cmemd", build: built}, way: "archive", commands: "`curl -fsSL --proto =https -o install.sh " + scriptSource + "`, then `sh install.sh --to ROOT/home/.local/bin`"},
		"an archive of root's": {layout: layout{self: "usr/local/bin/cmemd", kept: []string{"usr/local/bin"}}, way: "archive", step: "as a user who may write to ROOT/usr/local/bin"},
		"an archive, copied":   {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": source("archive", "ROOT/tmp/x")}}, way: "archive", step: "unpack a newer one of " + releases + ", and run `cmemd setup` from there"},
		"Homebrew, copied":     {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": source("", "ROOT/opt/homebrew/Cellar/cmemd/0.1.0/bin")}}, way: "homebrew", commands: "`brew update`, then `brew upgrade cmemd`", program: "ROOT/opt/homebrew/bin/cmemd"},
		"a script's, copied":   {layout: layout{self: "home/cmemd/bin/cmemd", build: built, files: map[string]string{"home/cmemd/bin/source.json": source("", "ROOT/home/.local/bin"), "home/.local/bin/cmemd": "x"}}, way: "archive", commands: "`curl -fsSL --proto =https -o install.sh " + scriptSource + "`, then `sh install.sh --to ROOT/home/.local/bin`", program: "ROOT/home/.local/bin/cmemd"},
		"a newer source.json":  {layout: layout{self: "home/cmemd/bin/cmemd", files: map[string]string{"home/cmemd/bin/source.json": `{"format": 2, "way": "npm"}`}}, way: "archive", commands: "`curl"},
		"Windows":              {layout: layout{self: "Programs/cmemd.exe"}, way: "archive", step: "`cmemd stop`, unpack the .zip"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.tools == nil {
				c.tools = all
			}
			m, _ := c.lay(t)
			o := originOf(t.Context(), m)
			rooted := func(s string) string { return strings.ReplaceAll(s, "ROOT", m.root) }
			program := rooted(c.program)
			if program == "" {
				program = m.self
			}
			if o.Way != c.way || !strings.HasPrefix(commandLine(o.Commands), rooted(c.commands)) || (c.commands == "") != (len(o.Commands) == 0) ||
				!strings.HasPrefix(o.Step, rooted(c.step)) || (c.step == "") != (o.Step == "") || o.program != program {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// fake is a cmemd that says a version, notes how it is called, and starts.
func fake(version string) string {
	return "#!/bin/sh\necho \"cmemd-" + version + " $*\" >> ROOT/calls\ncase \"$*\" in\n'version --json') echo '{\"version\": \"" + version + "\"}';;\n" +
		"*'start --json') echo '{\"version\": \"" + version + "\", \"pid\": 7, \"stopped\": \"0.1.0\"}';;\nesac\n"
}

// TestUpgrade runs the command on what npm installed globally, where npm puts a newer program in its place.
func TestUpgrade(t *testing.T) {
	const self = "n/lib/node_modules/@cmemd/linux-x64/bin/cmemd"
	installs := map[string]string{"npm": "case $1 in view) echo 0.2.0;; *) echo fetched; cat ROOT/newer > ROOT/" + self + ";; esac"}
	for name, c := range map[string]struct {
		command upgradeCommand
		tools   map[string]string
		newer   string
		calls   string // without the folder of the home
		out     []string
		err     string
		next    string
	}{
		"dry":           {command: upgradeCommand{dryRun: true}, out: []string{"npm, installed globally\n", "`npm install --global --prefix ROOT/n cmemd@latest`; then `cmemd start` with the new one"}},
		"nobody to ask": {out: []string{"came by"}},
		"check":         {command: upgradeCommand{check: true}, calls: "npm view cmemd version\n", out: []string{"0.2.0 is there, and this is 0.1.0: `cmemd upgrade`"}},
		"check fails":   {command: upgradeCommand{check: true}, tools: map[string]string{"npm": "echo no network >&2; exit 1"}, calls: "npm view cmemd version\n", err: "npm does not say which version is the newest: `npm view cmemd version`: exit status 1: no network", next: "try again, or look at " + releases},
		"yes": {
			command: upgradeCommand{yes: true}, newer: fake("0.2.0"),
			calls: "npm install --global --prefix ROOT/n cmemd@latest\ncmemd-0.2.0 version --json\ncmemd-0.2.0 --home HOME start --json\n",
			out:   []string{"upgraded from 0.1.0 to 0.2.0", "the daemon is 0.2.0, pid 7"},
		},
		"the newest already": {
			command: upgradeCommand{yes: true}, tools: map[string]string{"npm": "case $1 in view) echo 0.1.0;; esac"}, calls: "npm install",
			out: []string{"0.1.0 is the newest already"},
		},
		"npm brings it elsewhere": {
			command: upgradeCommand{yes: true}, newer: fake("0.1.0"), calls: "npm install",
			err: "ROOT/" + self + " is still 0.1.0, and 0.2.0 is there: npm did not bring it, or brought it elsewhere", next: "see what it said; `cmemd doctor` names other copies of cmemd",
		},
		"npm does not say what is the newest": {
			command: upgradeCommand{yes: true}, tools: map[string]string{"npm": "case $1 in view) exit 1;; esac"}, calls: "npm install",
			out: []string{"ROOT/" + self + " is still 0.1.0; " + releases + " says which version is the newest"},
		},
		"npm fails": {
			command: upgradeCommand{yes: true}, tools: map[string]string{"npm": "exit 7"}, calls: "npm install --global --prefix ROOT/n cmemd@latest\n",
			err: "`npm install --global --prefix ROOT/n cmemd@latest`: exit status 7", next: "see what it said; the daemon that runs is as it was, and `cmemd upgrade` may be run again",
		},
		"what it brings does not run": {
			command: upgradeCommand{yes: true}, newer: "#!/bin/sh\nexit 9\n", calls: "npm install --global --prefix ROOT/n cmemd@latest\n",
			err: "exit status 9", next: "`cmemd version` and `cmemd doctor` say what is there now; then `cmemd start`",
		},
		"the daemon does not start": {
			command: upgradeCommand{yes: true}, newer: strings.Replace(fake("0.2.0"), "*'start --json')", "*'start --json') echo held >&2; exit 1;;\nx)", 1), calls: "npm install",
			err: "held", next: "`cmemd start` with the new program; hooks keep what they report in the spool meanwhile",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := layout{self: self, files: map[string]string{self: fake("0.1.0"), "newer": c.newer}, tools: installs}
			if c.tools != nil {
				l.tools = c.tools
			}
			for tool, script := range l.tools {
				l.tools = map[string]string{tool: script}
			}
			m, calls := l.lay(t)
			rootTools(t, m)
			a, out, errOut := clitest.App()
			a.Version, a.HomeDir = "0.1.0", filepath.Join(m.root, "home")
			err := c.command.runOn(t.Context(), a, m)
			said := strings.ReplaceAll(out.String(), m.root, "ROOT")
			for _, want := range c.out {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in:\n%s%s", want, said, errOut.String())
				}
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), m.root, "ROOT"), c.err)) || terminal.NextStep(err) != c.next {
				t.Errorf("got error %v, next %q", err, terminal.NextStep(err))
			}
			b, _ := os.ReadFile(calls)
			called := strings.ReplaceAll(strings.ReplaceAll(string(b), a.HomeDir, "HOME"), m.root, "ROOT")
			if d := diff.Diff(c.calls, called); d != "" && (c.calls == "" || strings.HasSuffix(c.calls, "\n") || !strings.HasPrefix(called, c.calls)) {
				t.Errorf("calls, -want +got:\n%s", d)
			}
		})
	}
}

// TestUpgradeOfACopy runs the command on a copy in the home that came by pnpm, which puts another version into another folder and removes
// the one that the copy came from.
func TestUpgradeOfACopy(t *testing.T) {
	const gone = "home/.local/share/pnpm/global/5/.pnpm/@cmemd+linux-x64@0.1.0/node_modules/@cmemd/linux-x64/bin"
	m, calls := layout{
		self: "home/bin/cmemd", files: map[string]string{"home/bin/source.json": source("npm", "ROOT/"+gone), "newer": fake("0.2.0")},
		tools: map[string]string{"pnpm": "case $1 in bin) echo ROOT/global;; *) mkdir ROOT/global; cp ROOT/newer ROOT/global/cmemd;; esac"},
	}.lay(t)
	rootTools(t, m)
	t.Setenv("PATH", filepath.Dir(m.self)+":"+os.Getenv("PATH")) // the copy is what a shell finds
	a, out, errOut := clitest.App()
	a.Version, a.HomeDir = "0.1.0", filepath.Join(m.root, "home")
	err := upgradeCommand{yes: true}.runOn(t.Context(), a, m)
	if said := out.String(); err != nil || !strings.Contains(said, "upgraded from 0.1.0 to 0.2.0") || !strings.Contains(said, "the daemon is 0.2.0, pid 7") {
		t.Errorf("%v\n%s%s", err, said, errOut)
	}
	b, _ := os.ReadFile(calls)
	if want := "pnpm add --global cmemd@latest\npnpm bin --global\ncmemd-0.2.0 version --json\n"; !strings.HasPrefix(string(b), want) {
		t.Errorf("calls: %s", b)
	}
}

// TestUpgradeThatStarts: where the command itself replaces the daemon, nothing is said of another start.
func TestUpgradeThatStarts(t *testing.T) {
	m, _ := layout{self: "home/.npm/_npx/0a1b/node_modules/@cmemd/linux-x64/bin/cmemd", tools: map[string]string{"npx": ""}}.lay(t)
	a, out, _ := clitest.App()
	a.Version, a.HomeDir = "0.1.0", filepath.Join(m.root, "home")
	err := upgradeCommand{dryRun: true}.runOn(t.Context(), a, m)
	if said := out.String(); err != nil || !strings.HasSuffix(said, "`npx --yes cmemd@latest start`\n") {
		t.Errorf("%v\n%s", err, said)
	}
}

// rootTools puts the folder of a layout into its tools, which are written before it is known.
func rootTools(t *testing.T, m machine) {
	t.Helper()
	tools, err := filepath.Glob(filepath.Join(m.root, "tools", "*"))
	for _, path := range tools {
		b, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr, os.WriteFile(path, []byte(strings.ReplaceAll(string(b), "ROOT", m.root)), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestACommandThatSaysMuch is cut, and one that hangs ends with its time.
func TestACommandThatSaysMuch(t *testing.T) {
	layout{self: "x", tools: map[string]string{"much": "head -c 1000000 /dev/zero | tr '\\0' x", "hang": "exec sleep 100"}}.lay(t)
	if said, err := output(t.Context(), "much"); err != nil || len(said) != maxAnswer {
		t.Errorf("%d bytes, %v", len(said), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := output(ctx, "hang"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"a-b_c/d@latest": "a-b_c/d@latest", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q: got %s", word, got)
		}
	}
}
