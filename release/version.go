package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// firstRelease is what a commit before any tag leads to.
const firstRelease = "v0.1.0"

// sqliteTag is what the tags of cmd/cmemd-sqlite begin with: a module below another one is of a version by a tag with its folder.
const sqliteTag = "cmd/cmemd-sqlite/"

// repository returns the folder of the repository around the current one.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	top, err := git(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(top), nil
}

// identify finds out which version, commit and time the checked out commit is.
func (r *release) identify() error {
	commit, err := git(r.root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	seconds, err := git(r.root, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("git log: the time of the commit is %q", seconds)
	}
	r.commit, r.at = commit, time.Unix(unix, 0).UTC()
	changes, err := git(r.root, "status", "--porcelain")
	if err != nil {
		return err
	}
	tags, err := git(r.root, "tag", "--points-at", "HEAD", "--list", "v*", sqliteTag+"v*")
	if err != nil {
		return err
	}
	// The latest release among the ancestors; none is no error.
	older, _ := git(r.root, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD")
	r.version, err = versionOf(strings.Fields(tags), older, r.at, commit, changes != "")
	return err
}

// versionOf is the version of a commit, without the v: that of its tag, or, as the go command has it, one between the older release and
// the next. A release has a tag for both modules that people install. changed says that the folder differs from the commit; a
// release is never made of such a one.
func versionOf(tags []string, older string, at time.Time, commit string, changed bool) (string, error) {
	var tag string
	for _, t := range tags {
		switch {
		case strings.HasPrefix(t, sqliteTag):
		case semver.Canonical(t) != t:
			return "", fmt.Errorf("the tag %s is no version: tag releases as v1.2.3 or v1.2.3-rc.1", t)
		case tag == "" || semver.Compare(t, tag) > 0:
			tag = t
		}
	}
	if tag != "" && changed {
		return "", fmt.Errorf("files differ from what is tagged as %s: commit or stash them (`git status` lists them)", tag)
	}
	if tag != "" && !slices.Contains(tags, sqliteTag+tag) {
		return "", fmt.Errorf("`go install .../cmd/cmemd-sqlite@latest` would not find %s: tag the commit as %s%s too", tag, sqliteTag, tag)
	}
	if tag != "" {
		return tag[1:], nil
	}
	version := module.PseudoVersion(semver.Major(older), older, at, commit[:12])
	if older == "" {
		_, suffix, _ := strings.Cut(module.PseudoVersion("v0", "v0.0.0", at, commit[:12]), "-")
		version = firstRelease + "-" + suffix
	}
	if changed {
		version += ".changed"
	}
	return version[1:], nil
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	return output(cmd)
}

// output is what a command prints, without the space around it; an error tells what it said of itself.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err), errors.New(strings.TrimSpace(stderr.String())))
	}
	return strings.TrimSpace(string(out)), nil
}
