package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// A target is a system and a processor, by Go's names.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// exe is what the name of a program ends with.
func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// allTargets are those that a release has programs for.
func allTargets() (all []target) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		all = append(all, target{system, "amd64"}, target{system, "arm64"})
	}
	return all
}

// A product is what people download by itself, for each target.
type product struct {
	name        string
	description string
	programs    []string

	// Of its container image. Port is what it listens on for other machines; empty: nothing. Health is asked by whoever runs it; nil: nothing.
	entrypoint, command, health []string
	port                        string
}

// programs are what each target gets: cmemd, and the two that it and agents look for beside it. cmemd-sqlite, which only
// `cmemd import claude-mem` needs, adds 2 MB to an archive and saves those who need it a Go toolchain.
func programs() []string { return []string{"cmemd", "cmemd-hook", "cmemd-sqlite"} }

const description = "Memory for coding agents that can be trusted and replayed"

// products are cmemd itself, and cmemd-hub: 7 MB packed and 17 MB unpacked, two fifths of what there is, for one machine of several.
func products() []product {
	return []product{
		{
			name: "cmemd", description: description, programs: programs(),
			entrypoint: []string{"/usr/bin/cmemd"}, command: []string{"serve"}, health: []string{"CMD", "/usr/bin/cmemd", "status"},
		},
		{
			name: "cmemd-hub", description: "The store through which machines with cmemd share their memory", programs: []string{"cmemd-hub"},
			entrypoint: []string{"/usr/bin/cmemd-hub", "--dir", "/data"}, port: "4222/tcp",
		},
	}
}

// modules are the folders of the modules that programs are built from, each with its packages.
func modules() map[string][]string {
	return map[string][]string{".": {"./cmd/cmemd", "./cmd/cmemd-hook"}, "cmd/cmemd-sqlite": {"."}, "cmd/cmemd-hub": {"."}}
}

// bin is the folder in which the programs of a target are built.
func (r *release) bin(t target) string { return filepath.Join(r.stage, t.String()) }

// build makes the programs of one target. No setting of this machine's Go reaches them.
func (r *release) build(t target) error {
	if err := os.MkdirAll(r.bin(t), 0o755); err != nil {
		return err
	}
	slim, err := r.slimModule()
	if err != nil {
		return err
	}
	for folder, packages := range modules() {
		args := []string{"build", "-trimpath", "-ldflags=-s -w -buildid= -X main.version=" + r.version, "-o", r.bin(t)}
		if folder == "." {
			args = append(args, "-modfile="+slim)
		}
		cmd := exec.Command("go", append(args, packages...)...)
		cmd.Dir, cmd.Env = filepath.Join(r.root, folder), buildEnv(os.Environ(), t)
		if _, err := output(cmd); err != nil {
			return err
		}
	}
	return nil
}

// slimModule writes go.mod with jsoniter in the place of the module that it stands in for, and returns the file's path. It is not in go.mod
// itself because `go install ...@latest` refuses a module that replaces another.
func (r *release) slimModule() (string, error) {
	mod, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(r.root, "go.sum"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(r.stage, "slim.mod")
	mod = append(mod, "\nreplace github.com/json-iterator/go => ./release/jsoniter\n"...)
	return path, errors.Join(os.WriteFile(path, mod, 0o600), os.WriteFile(filepath.Join(r.stage, "slim.sum"), sum, 0o600))
}

// buildEnv is the environment of a build: the machine's, but for what would change the programs. The go command is not asked to look
// at git: it finds no commit in a worktree, and another version in a shallow clone.
func buildEnv(machine []string, t target) []string {
	return append(slices.Clone(machine), "GOENV=off", "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off",
		"CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
}
