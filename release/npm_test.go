//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// npm installs packages of the release into an empty prefix, without a network and with an empty home, and returns the prefix and the
// environment. Flags of npm may stand among the packages. The tests with it are skipped where there is no npm.
func npm(t *testing.T, packages ...string) (prefix string, env []string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on PATH")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm on PATH")
	}
	r, prefix := built(t), t.TempDir()
	args := []string{"npm", "install", "--global", "--prefix", prefix, "--offline", "--no-audit", "--no-fund", "--loglevel=error"}
	for _, p := range packages {
		if !strings.HasPrefix(p, "--") {
			p = filepath.Join(r.out, p+"-"+r.version+".tgz")
		}
		args = append(args, p)
	}
	env = bare(t, "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))
	if said := mustRun(t, env, args...); strings.Contains(said, "rror") {
		t.Error(said)
	}
	return prefix, env
}

// platformTarball is the beginning of the name of this machine's package.
func platformTarball() string {
	return strings.ReplaceAll(strings.TrimPrefix(platformPackage(native), "@"), "/", "-")
}

func TestNPM(t *testing.T) {
	prefix, env := npm(t, "cmemd", platformTarball(), strings.Replace(platformTarball(), "cmemd-", "cmemd-hub-", 1))
	mustRun(t, env, filepath.Join(prefix, "bin", "cmemd-hub"), "--version")
	cmemd := filepath.Join(prefix, "bin", "cmemd")
	works(t, env, cmemd, filepath.Join(prefix, "bin", "cmemd-hook"))
	for want, args := range map[int][]string{2: {"nosuch"}, 3: {"status"}, 0: {"help", "exit-codes"}} {
		if said, code := runs(t, env, append([]string{cmemd}, args...)...); code != want {
			t.Errorf("cmemd %v ended with %d, want %d: %s", args, code, want, said)
		}
	}
}

// TestNPMSignals: whoever stops the shim stops the daemon behind it, in order, and is told how it ended.
func TestNPMSignals(t *testing.T) {
	prefix, env := npm(t, "cmemd", platformTarball())
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd := exec.Command(filepath.Join(prefix, "bin", "cmemd"), "serve")
		cmd.Env = append(env, "CMEMD_LISTEN=")
		startGroup(t, cmd)
		kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			said, code := runs(t, env, filepath.Join(prefix, "bin", "cmemd"), "status")
			if code == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("no daemon after 30 s: %s", said)
			}
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
		kill.Stop()
		if said, code := runs(t, env, filepath.Join(prefix, "bin", "cmemd"), "status"); code != 3 {
			t.Errorf("after %v status ends with %d: %s", signal, code, said)
		}
	}
}

// TestNPMWithoutPlatform: where the package with the programs was left out, cmemd says what to do, and a hook does not fail its agent.
func TestNPMWithoutPlatform(t *testing.T) {
	prefix, env := npm(t, "cmemd", "--omit=optional")
	said, code := runs(t, env, filepath.Join(prefix, "bin", "cmemd"), "setup")
	for _, want := range []string{platformPackage(native), "--include=optional", "releases"} {
		if code != 1 || !strings.Contains(said, want) {
			t.Errorf("cmemd ended with %d and does not name %s: %s", code, want, said)
		}
	}
	said, code = runs(t, env, filepath.Join(prefix, "bin", "cmemd-hook"), "claude-code")
	if code != 0 || !strings.Contains(said, "--include=optional") {
		t.Errorf("cmemd-hook ended with %d: %s", code, said)
	}
}

// TestNPXWithoutPlatform: npx makes no second attempt at what it could not fetch, so cmemd names the folder that has to go.
func TestNPXWithoutPlatform(t *testing.T) {
	needs(t, "node")
	kept := filepath.Join(t.TempDir(), "_npx", "0a1b")
	dir := filepath.Join(kept, "node_modules", "cmemd")
	about := `{"optionalDependencies": {"` + platformPackage(native) + `": "0.1.0"}}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.CopyFS(dir, os.DirFS("npm")),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(about), 0o644)); err != nil {
		t.Fatal(err)
	}
	said, code := runs(t, os.Environ(), "node", filepath.Join(dir, "bin", "cmemd.js"), "setup")
	if want := "Remove the folder " + kept + ", "; code != 1 || !strings.Contains(said, want) || strings.Contains(said, "--global") {
		t.Errorf("it ended with %d, want 1 and %q: %s", code, want, said)
	}
}

// TestNPMEndsAsItsProgram: the shim ends as the program that it started, also by a signal that Node.js ignores; cmemd-hook never fails its agent.
func TestNPMEndsAsItsProgram(t *testing.T) {
	needs(t, "node")
	for name, c := range map[string]struct {
		program, ends string
		code          int // as exec has it: -1 where a signal ended it
	}{
		"code":                        {"cmemd", "exit 4", 4},
		"closed pipe":                 {"cmemd", "kill -PIPE $$", 128 + int(syscall.SIGPIPE)},
		"killed":                      {"cmemd", "kill -KILL $$", -1},
		"hook behind a closed pipe":   {"cmemd-hook", "kill -PIPE $$", 0},
		"hook that the system killed": {"cmemd-hook", "kill -KILL $$", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bin := filepath.Join(dir, "node_modules", platformPackage(native), "bin")
			if err := errors.Join(os.CopyFS(dir, os.DirFS("npm")), os.MkdirAll(bin, 0o755),
				os.WriteFile(filepath.Join(filepath.Dir(bin), "package.json"), []byte("{}"), 0o644),
				os.WriteFile(filepath.Join(bin, c.program), []byte("#!/bin/sh\n"+c.ends+"\n"), 0o755)); err != nil {
				t.Fatal(err)
			}
			if said, code := runs(t, os.Environ(), "node", filepath.Join(dir, "bin", c.program+".js")); code != c.code {
				t.Errorf("it ended with %d, want %d: %s", code, c.code, said)
			}
		})
	}
}
