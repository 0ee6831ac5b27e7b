package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestInstallScript fetches the release from a server on loopback, which may serve something else.
func TestInstallScript(t *testing.T) {
	if native.os == "windows" {
		t.Skip("the script is for Unix shells")
	}
	r := built(t)
	archive := r.archiveName(native) + ".tar.gz"
	flip := func(name string, b []byte) []byte {
		if name == archive {
			b = bytes.Clone(b)
			b[len(b)/2] ^= 1
		}
		return b
	}
	for _, tc := range []struct {
		name  string
		serve func(name string, b []byte) []byte // nil: not found
		lacks int                                // bytes of the archive that are announced and not sent
		args  []string
		want  string // what it says; with "" the release is installed
		code  int
	}{
		{name: "good"},
		{name: "its version", args: []string{"--version", "v" + r.version}},
		{name: "with the hub", args: []string{"--hub"}},
		{name: "another version", args: []string{"--version", "9.9.9"}, want: "not of version 9.9.9", code: 1},
		{name: "a flipped bit", serve: flip, want: "is not what the release has", code: 1},
		{name: "cut at a server that says nothing", serve: func(name string, b []byte) []byte {
			if name == archive {
				return b[:len(b)-1000]
			}
			return b
		}, want: "is not what the release has", code: 1},
		{name: "cut on its way", lacks: 1000, want: "could not be fetched whole", code: 1},
		{name: "checksums of another release", serve: func(name string, b []byte) []byte {
			if name == "checksums.txt" {
				return []byte(strings.Repeat("0", 64) + "  " + archive + "\n")
			}
			return b
		}, want: "is not what the release has", code: 1},
		{name: "a proxy's page", serve: func(string, []byte) []byte {
			return []byte("<html>Please log in</html>")
		}, want: "not a release's list", code: 1},
		{name: "a name with a path", serve: func(name string, b []byte) []byte {
			return []byte(strings.Repeat("0", 64) + "  cmemd_../../x_" + native.String() + ".tar.gz\n")
		}, want: "not a release's list", code: 1},
		{name: "no archive", serve: func(name string, b []byte) []byte {
			if name == archive {
				return nil
			}
			return b
		}, want: "could not be fetched whole", code: 1},
		{name: "nothing at all", serve: func(string, []byte) []byte { return nil }, want: "could not be fetched whole", code: 1},
		{name: "an unknown option", args: []string{"--form", "x"}, want: "usage: ", code: 2},
		{name: "an option without its value", args: []string{"--to"}, want: "wants a value", code: 2},
		{name: "a name before the host", args: []string{"--from", "http://127.0.0.1:80@127.0.0.2:1"}, want: "with an @ is not taken", code: 2},
		{name: "a plain connection", args: []string{"--from", "http://example.com"}, want: "only https://", code: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from := serveFiles(t, r.out, func(name string, b []byte) ([]byte, int) {
				if tc.serve != nil {
					b = tc.serve(name, b)
				}
				if name == archive {
					return b[:max(0, len(b)-tc.lacks)], tc.lacks
				}
				return b, 0
			})
			env := bare(t)
			to := filepath.Join(strings.TrimPrefix(env[0], "HOME="), ".local", "bin")
			said, code := runs(t, env, append([]string{"sh", filepath.Join(r.out, "install.sh"), "--from", from}, tc.args...)...)
			if code != tc.code || !strings.Contains(said, tc.want) {
				t.Errorf("ended with %d, want %d and %q: %s", code, tc.code, tc.want, said)
			}
			if tc.code != 0 {
				nothingIn(t, to)
				return
			}
			if !strings.Contains(said, "not on PATH") || !strings.Contains(said, "next: cmemd setup") {
				t.Errorf("it does not say what comes next: %s", said)
			}
			if tc.name == "with the hub" {
				if said := mustRun(t, env, filepath.Join(to, "cmemd-hub"), "--version"); said != "cmemd-hub "+r.version+"\n" {
					t.Errorf("cmemd-hub says %q", said)
				}
			}
			if tc.name == "good" {
				works(t, env, filepath.Join(to, "cmemd"), filepath.Join(to, "cmemd-hook"))
			}
		})
	}
}

// serveFiles serves the files of a folder on loopback, as change makes them: without bytes that are announced, or not at all (nil).
func serveFiles(t *testing.T, dir string, change func(name string, b []byte) (sent []byte, lacks int)) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		name := filepath.Base(q.URL.Path)
		b, err := os.ReadFile(filepath.Join(dir, name))
		lacks := 0
		if err == nil {
			b, lacks = change(name, b)
		}
		if len(b) == 0 {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)+lacks))
		w.Write(b)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// linked is a folder with links to these programs of the machine.
func linked(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		link(t, dir, name)
	}
	return dir
}

func link(t *testing.T, dir, name string) {
	t.Helper()
	needs(t, name)
	path, _ := exec.LookPath(name)
	if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestInstallScriptTools: where there is no curl, wget fetches; without either the script says so.
func TestInstallScriptTools(t *testing.T) {
	r, tools := built(t), linked(t, "sh", "uname", "mkdir", "mktemp", "rm", "tar", "gzip", "grep", "wc", "sync", "mv", "sha256sum")
	from := serveFiles(t, r.out, func(_ string, b []byte) ([]byte, int) { return b, 0 })
	install := func(from string) (string, int) {
		return runs(t, bare(t, "PATH="+tools), "sh", filepath.Join(r.out, "install.sh"), "--from", from)
	}
	if said, code := install(from); code != 1 || !strings.Contains(said, "curl or wget") {
		t.Errorf("with neither: %d, %s", code, said)
	}
	link(t, tools, "wget")
	if said, code := install(from); code != 0 || !strings.Contains(said, r.version) {
		t.Errorf("by wget: %d, %s", code, said)
	}
	nowhere := serveFiles(t, r.out, func(string, []byte) ([]byte, int) { return nil, 0 })
	if said, code := install(nowhere); code != 1 || !strings.Contains(said, "could not be fetched whole") {
		t.Errorf("by wget from where nothing is: %d, %s", code, said)
	}
}

// standIns makes what install.sh fetches, of a release 0.0.1 for this machine whose programs are shell scripts.
func standIns(t *testing.T) (dir string) {
	t.Helper()
	needs(t, "sh", "tar", "sha256sum")
	dir = t.TempDir()
	name := "cmemd_0.0.1_" + native.String()
	mustRun(t, bare(t), "sh", "-euc", `cd "$0"; mkdir "$1"; for p in cmemd cmemd-hook cmemd-sqlite; do
		printf '#!/bin/sh\necho cmemd 0.0.1\n' >"$1/$p"; chmod 755 "$1/$p"; done
		tar -czf "$1.tar.gz" "$1"; sha256sum "$1.tar.gz" >checksums.txt`, dir, name)
	return dir
}

// TestInstallScriptRedirected: a redirection is followed to where anybody could change the files by neither curl nor wget, and else by both.
func TestInstallScriptRedirected(t *testing.T) {
	dir := standIns(t)
	plain := serveFiles(t, dir, func(_ string, b []byte) ([]byte, int) { return b, 0 })
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		switch folder, name := path.Split(q.URL.Path); folder {
		case "/plain/":
			http.Redirect(w, q, plain+"/"+name, http.StatusFound)
		case "/moved/":
			http.Redirect(w, q, "https://"+q.Host+"/files/"+name, http.StatusFound)
		case "/round/":
			http.Redirect(w, q, "https://"+q.Host+q.URL.Path, http.StatusFound)
		default:
			http.ServeFile(w, q, filepath.Join(dir, name))
		}
	}))
	defer server.Close()
	known := filepath.Join(t.TempDir(), "known.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	rc := filepath.Join(t.TempDir(), "wgetrc")
	if err := errors.Join(os.WriteFile(known, block, 0o600), os.WriteFile(rc, []byte("ca_certificate="+known+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, fetcher := range []string{"curl", "wget"} {
		needs(t, fetcher)
		tools := linked(t, "sh", "uname", "mkdir", "mktemp", "rm", "tar", "gzip", "grep", "wc", "sync", "mv", "sha256sum", fetcher)
		for folder, want := range map[string]string{"files": "", "moved": "", "plain": "could not be fetched whole", "round": "could not be fetched whole"} {
			to := t.TempDir()
			said, code := runs(t, bare(t, "PATH="+tools, "CURL_CA_BUNDLE="+known, "WGETRC="+rc),
				"sh", "install.sh", "--to", to, "--from", server.URL+"/"+folder)
			if want == "" && (code != 0 || !strings.Contains(said, "cmemd 0.0.1")) || want != "" && (code != 1 || !strings.Contains(said, want)) {
				t.Errorf("by %s from %s: %d, %s", fetcher, folder, code, said)
			}
			if want != "" {
				nothingIn(t, to)
			}
		}
	}
}

// TestInstallScriptOldWget: a wget that cannot be kept from following any redirection is not used.
func TestInstallScriptOldWget(t *testing.T) {
	tools := linked(t, "sh", "uname", "mkdir", "mktemp", "rm", "tar", "grep", "wc", "sha256sum")
	script := "#!/bin/sh\necho 'wget: unrecognized option' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(tools, "wget"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	said, code := runs(t, bare(t, "PATH="+tools), "sh", "install.sh", "--to", to, "--from", "https://127.0.0.1:1")
	if code != 1 || !strings.Contains(said, "install curl") {
		t.Errorf("%d, %s", code, said)
	}
	nothingIn(t, to)
}

// TestInstallScriptFolder: a folder below the current one is named from the root in what is said.
func TestInstallScriptFolder(t *testing.T) {
	from, here := standIns(t), t.TempDir()
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"bin", "-bin", "./bin/", here + "/bin/"} {
		want := filepath.Join(here, to)
		if filepath.IsAbs(to) {
			want = filepath.Clean(to)
		}
		said, code := runs(t, bare(t), "sh", "-c", `cd "$0" && sh "$1" --from "$2" --to "$3"`, here, script, from, to)
		if code != 0 || !strings.Contains(said, "export PATH=\""+want+":$PATH\"") {
			t.Errorf("--to %s: %d, %s", to, code, said)
		}
	}
}

// TestInstallScriptWithoutHome: with no home, and no folder named, it says what to do, as it does of all else that keeps it.
func TestInstallScriptWithoutHome(t *testing.T) {
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"X=", "HOME="} {
		said, code := runs(t, []string{"PATH=/usr/bin:/bin", home}, "sh", script, "--from", standIns(t))
		if code != 2 || said != "cmemd: HOME is not set: name a folder by --to\ncmemd: nothing was installed.\n" {
			t.Errorf("%s: it ended with %d: %s", home, code, said)
		}
	}
}

// nothingIn fails the test where a folder holds anything, programs or what the script left.
func nothingIn(t *testing.T, dir string) {
	t.Helper()
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%s holds %v", dir, entries)
	}
}

// TestInstallScriptAgain replaces what is there, from a folder, and leaves what it cannot install over as it is.
func TestInstallScriptAgain(t *testing.T) {
	r, env, to := built(t), bare(t), t.TempDir()
	script := []string{"sh", filepath.Join(r.out, "install.sh"), "--from", r.out, "--to", to}
	if err := os.WriteFile(filepath.Join(to, "cmemd"), []byte("an older one"), 0o755); err != nil {
		t.Fatal(err)
	}
	said := mustRun(t, append(env, "PATH="+to+":/usr/bin:/bin"), script...)
	if !strings.Contains(said, "next: cmemd start") || strings.Contains(said, "not on PATH") {
		t.Errorf("an upgrade says %s", said)
	}
	if said := mustRun(t, env, filepath.Join(to, "cmemd"), "version"); !strings.Contains(said, r.version) {
		t.Errorf("after an upgrade: %s", said)
	}
	if entries, _ := os.ReadDir(to); len(entries) != len(programs()) {
		t.Errorf("%s holds %v", to, entries)
	}
	if err := os.Remove(filepath.Join(to, "cmemd-hook")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(to, "cmemd-hook"), 0o755); err != nil {
		t.Fatal(err)
	}
	if said, code := runs(t, env, script...); code != 1 || !strings.Contains(said, "is a folder") {
		t.Errorf("over a folder: %d, %s", code, said)
	}
	if entries, _ := os.ReadDir(filepath.Join(to, "cmemd-hook")); len(entries) > 0 {
		t.Errorf("programs were moved into the folder: %v", entries)
	}
}

// TestInstallScriptCut: a script that a bad connection cut anywhere does nothing.
func TestInstallScriptCut(t *testing.T) {
	script, dir := read(t, "install.sh"), t.TempDir()
	for n := 0; n < len(script)-len("main \"$@\"\n"); n += 97 {
		path := filepath.Join(dir, "cut.sh")
		if err := os.WriteFile(path, script[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, "to")
		runs(t, bare(t), "sh", path, "--from", dir, "--to", to)
		nothingIn(t, to)
		if _, err := os.Stat(to); err == nil {
			t.Fatalf("cut behind byte %d it made a folder", n)
		}
	}
}
