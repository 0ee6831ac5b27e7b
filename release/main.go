// Command release makes all files of a release from the commit that is checked out: release/snapshot [-single] [-out DIR].
//
// Of cmemd, and of cmemd-hub by itself, it makes, without -single, archives, npm packages and lists of parts (SBOM) for Linux,
// macOS and Windows on amd64 and arm64, deb and rpm packages, container images and of cmemd a Homebrew formula for those of
// them that have such a thing, and checksums.txt over all; with -single what is for this machine. At a tag vX.Y.Z they are that
// release, elsewhere a version before the next one. Nothing is published, and the network is asked for nothing but modules that
// are not in the module cache yet.
//
// The same commit, tags and Go release give the same bytes, wherever and whenever: files carry the time of the commit, and nothing of the
// machine is in them.
//
// The files, each referring to those below it:
//
//	main.go, checksums.go, image.go, formula.go, npm.go, packages.go, archive.go, sbom.go, layout.go, licences.go, build.go, version.go
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

func main() {
	out := flag.String("out", "", "the `folder` to make them in: new, empty, or made by this before (default: dist of the repository)")
	single := flag.Bool("single", false, "only what is for this machine's system and processor")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "release: %q is no flag; -h lists them\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(*out, *single); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// A release is what all files of one are made from.
type release struct {
	root    string // of the repository
	out     string // where its files go
	stage   string // where parts of them are built; removed at the end
	version string // without the v
	commit  string
	at      time.Time // of the commit
}

// run makes a release. What out held of an earlier one is gone then; where it fails, out has no checksums.txt.
func run(out string, single bool) error {
	root, err := repository()
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(root, "dist")
	}
	if out, err = prepare(out); err != nil {
		return err
	}
	r := release{root: root, out: out}
	if err := r.identify(); err != nil {
		return err
	}
	if r.stage, err = os.MkdirTemp("", "cmemd-release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.stage)
	targets := allTargets()
	native := target{runtime.GOOS, runtime.GOARCH}
	switch {
	case !slices.Contains(targets, native):
		return fmt.Errorf("a release is made on one of %v, of which %v is none: manual pages come from the program itself", targets, native)
	case single:
		targets = []target{native}
	}
	return r.make(targets, native)
}

// make makes the files of all targets, among which native is.
func (r *release) make(targets []target, native target) error {
	for _, t := range targets {
		say("build %s %s", t, r.version)
		if err := r.build(t); err != nil {
			return err
		}
	}
	common, err := r.common(native)
	if err != nil {
		return err
	}
	layouts := map[string]map[target]layout{}
	for _, t := range targets {
		say("pack %s", t)
		for _, p := range products() {
			l, err := r.lay(p, t, common)
			if err == nil {
				err = r.pack(l)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, t, err)
			}
			if layouts[p.name] == nil {
				layouts[p.name] = map[target]layout{}
			}
			layouts[p.name][t] = l
		}
	}
	say("pack what is for all")
	for _, p := range products() {
		if err := r.image(p, layouts[p.name]); err != nil {
			return err
		}
	}
	if err := errors.Join(r.npmMain(), r.formula(layouts["cmemd"]), r.script()); err != nil {
		return err
	}
	return r.checksums()
}

// pack makes the files that are for one target alone.
func (r *release) pack(l layout) error {
	return errors.Join(r.archive(l), r.sbom(l), r.npmPlatform(l), r.systemPackages(l))
}

// prepare returns the absolute path of an empty folder. It refuses to remove what is not a release's.
func prepare(out string) (string, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	ours := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == madeHere })
	if len(entries) > 0 && !ours {
		return "", fmt.Errorf("%s holds files that are no release's: name another folder by -out, or remove it", out)
	}
	if err := os.RemoveAll(out); err != nil {
		return "", err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	return out, os.WriteFile(filepath.Join(out, madeHere), nil, 0o644)
}

// madeHere marks a folder that prepare may empty.
const madeHere = ".cmemd-release"

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "release: "+format+"\n", args...) }
