package install

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cmemd/cmemd/internal/agents/install/jsonedit"
	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/durable"
)

// pluginFiles is the marketplace folder with the plugin in it. Its hooks and server are those of a machine where cmemd is on
// the PATH; Tree writes them for this one.
//
//go:embed all:plugin
var pluginFiles embed.FS

// The names under which Claude Code knows the plugin.
const (
	pluginMarket = "cmemd"
	pluginID     = "cmemd@cmemd"
)

// A File is one of a tree.
type File struct {
	Path string // in a Tree below its folder, with slashes
	Text []byte
	Mode fs.FileMode
}

// Tree is the plugin for the agent as it is on a machine of that system, sorted by path: a marketplace folder. Its version ends with
// a mark of all its content, so that the client takes every change for a new release.
func (a Agent) Tree(goos string, o Options) ([]File, error) {
	files, err := embeddedFiles()
	if err != nil {
		return nil, err
	}
	hooks, servers := a.pluginHooks(goos, o), pluginServers(o)
	mode := fs.FileMode(0o644)
	if o.HTTP != nil {
		mode = 0o600
	}
	files = slices.DeleteFunc(files, func(f File) bool { return o.NoMCP && f.Path == pluginServersPath })
	for i, f := range files {
		switch f.Path {
		case pluginHooksPath:
			files[i].Text, files[i].Mode = hooks, mode
		case pluginServersPath:
			files[i].Text = servers
		}
	}
	version := pluginVersion(o.Version, files)
	for i, f := range files {
		if strings.HasPrefix(path.Base(path.Dir(f.Path)), ".claude-plugin") {
			files[i].Text = bytes.ReplaceAll(f.Text, []byte(`"version": "0.0.0"`), []byte(`"version": "`+version+`"`))
		}
	}
	return files, nil
}

const (
	pluginHooksPath   = "cmemd/hooks/hooks.json"
	pluginServersPath = "cmemd/.mcp.json"
)

// embeddedFiles lists the files that the binary carries.
func embeddedFiles() (files []File, err error) {
	err = fs.WalkDir(pluginFiles, "plugin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := pluginFiles.ReadFile(name)
		files = append(files, File{Path: strings.TrimPrefix(name, "plugin/"), Text: text, Mode: 0o644})
		return err
	})
	return files, err
}

func (a Agent) pluginHooks(goos string, o Options) []byte {
	d := jsonedit.Object{{Key: "description", Value: "Reports what happens in a session to the cmemd daemon on this machine"}}
	hooks := jsonedit.Object{}
	for _, e := range a.hookEdits(goos, o).entries {
		hooks = append(hooks, jsonedit.Member{Key: e.event, Value: []any{e.value}})
	}
	return fileText(append(d, jsonedit.Member{Key: "hooks", Value: hooks}))
}

func pluginServers(o Options) []byte {
	servers := jsonedit.Object{{Key: serverName, Value: o.fill("", "", known.StandardServer())}}
	return fileText(jsonedit.Object{{Key: "mcpServers", Value: servers}})
}

// fileText is an object as a file of its own.
func fileText(o jsonedit.Object) []byte {
	d := jsonedit.Parse(nil)
	for _, m := range o {
		d.Set(m.Value, m.Key)
	}
	text, err := d.Bytes()
	if err != nil {
		panic(fmt.Sprintf("install: %v", err)) // an empty text takes any member
	}
	return text
}

// pluginVersion is cmemd's version, as far as it is one of three numbers, with a mark of the files.
func pluginVersion(version string, files []File) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %o %d\n%s", f.Path, f.Mode, len(f.Text), f.Text)
	}
	numbers := strings.TrimPrefix(version, "v")
	if i := strings.IndexAny(numbers, "-+"); i >= 0 {
		numbers = numbers[:i]
	}
	parts := strings.Split(numbers, ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	if len(parts) != 3 || !digits(parts[0]) || !digits(parts[1]) || !digits(parts[2]) {
		numbers = "0.0.0"
	}
	return numbers + "-b" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// treeVersion is the version that a tree says it has.
func treeVersion(files []File) string {
	for _, f := range files {
		if f.Path == "cmemd/.claude-plugin/plugin.json" {
			var p struct {
				Version string `json:"version"`
			}
			_ = json.Unmarshal(f.Text, &p) // it is ours, and a test reads it
			return p.Version
		}
	}
	return ""
}

// pluginState is what Claude Code knows of the plugin.
type pluginState struct {
	market  string // the folder of the marketplace; empty: it knows none
	foreign bool   // the marketplace of that name is no folder
	version string // of the plugin as it was installed; empty: it is not
	enabled bool
}

// readPluginState looks into the client's own files. What is not there is not known; what cannot be read is an error.
func (a Agent) readPluginState(m Machine) (s pluginState, err error) {
	var markets map[string]struct {
		Source struct {
			Source string `json:"source"`
			Path   string `json:"path"`
		} `json:"source"`
	}
	var installed struct {
		Plugins map[string][]struct {
			Scope   string `json:"scope"`
			Version string `json:"version"`
		} `json:"plugins"`
	}
	dir := filepath.Join(a.dir(m), "plugins")
	err = errors.Join(readJSON(filepath.Join(dir, "known_marketplaces.json"), &markets), readJSON(filepath.Join(dir, "installed_plugins.json"), &installed))
	if known, there := markets[pluginMarket]; there {
		s.market, s.foreign = known.Source.Path, known.Source.Source != "directory"
	}
	for _, p := range installed.Plugins[pluginID] {
		if p.Scope == "user" {
			s.version = p.Version
		}
	}
	text, readErr := durable.ReadLinked(a.HookFile(m), MaxFile)
	if readErr != nil {
		return s, err // there are none yet
	}
	d := jsonedit.Parse(text)
	on, _ := d.Get("enabledPlugins", pluginID)
	s.enabled = on == true
	return s, errors.Join(err, d.Err())
}

// readJSON decodes a file; one that is not there decodes to nothing.
func readJSON(path string, v any) error {
	text, err := durable.ReadLinked(path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
