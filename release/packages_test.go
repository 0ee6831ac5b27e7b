//go:build unix

package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	ocilayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestDeb installs the package into a root of its own, and removes it again.
func TestDeb(t *testing.T) {
	needs(t, "dpkg")
	r, root, env := built(t), t.TempDir(), bare(t)
	admin := filepath.Join(root, "var", "lib", "dpkg")
	for _, dir := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := append(asRoot(t), "dpkg", "--root="+root, "--log=/dev/null")
	mustRun(t, env, append(dpkg, "--install", filepath.Join(r.out, r.archiveName(native)+".deb"))...)
	cmemd := filepath.Join(root, "usr", "bin", "cmemd")
	works(t, env, cmemd, cmemd+"-hook")
	if said := mustRun(t, env, append(dpkg, "--search", "/usr/bin/cmemd")...); !strings.HasPrefix(said, "cmemd: ") {
		t.Errorf("dpkg does not know whose /usr/bin/cmemd is: %s", said)
	}
	completions := []string{"bash-completion/completions/cmemd", "zsh/vendor-completions/_cmemd", "fish/vendor_completions.d/cmemd.fish"}
	for _, name := range append(completions, "man/man1/cmemd.1", "doc/cmemd/copyright") {
		read(t, root, "usr", "share", filepath.FromSlash(name))
	}
	mustRun(t, env, append(dpkg, "--install", filepath.Join(r.out, r.packageName("cmemd-hub", native)+".deb"))...)
	mustRun(t, env, cmemd+"-hub", "--version")
	read(t, root, "usr", "share", "doc", "cmemd-hub", "copyright")
	mustRun(t, env, append(dpkg, "--remove", "cmemd-hub", "cmemd")...)
	if _, err := os.Stat(cmemd); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after its removal: %v", err)
	}
}

// TestRPM installs the package into a root of its own.
func TestRPM(t *testing.T) {
	needs(t, "rpm")
	r, root, env := built(t), t.TempDir(), bare(t)
	rpm := append(asRoot(t), "rpm", "--root="+root)
	mustRun(t, env, append(rpm, "--install", "--ignoreos", filepath.Join(r.out, r.archiveName(native)+".rpm"))...)
	cmemd := filepath.Join(root, "usr", "bin", "cmemd")
	works(t, env, cmemd, cmemd+"-hook")
	mustRun(t, env, append(rpm, "--install", "--ignoreos", filepath.Join(r.out, r.packageName("cmemd-hub", native)+".rpm"))...)
	mustRun(t, env, cmemd+"-hub", "--version")
	if said := mustRun(t, env, append(rpm, "--query", "--file", "/usr/bin/cmemd")...); !strings.HasPrefix(said, "cmemd-") {
		t.Errorf("rpm does not know whose /usr/bin/cmemd is: %s", said)
	}
}

// TestImage unpacks the image and runs what its configuration says, as the user that it says, with nothing else in sight.
func TestImage(t *testing.T) {
	needs(t, "unshare", "chroot", "tar")
	if os.Getuid() != 0 {
		t.Skip("only root can make the devices that a container has, and be its user")
	}
	config, root := unpackImage(t, built(t), "cmemd")
	mustRun(t, os.Environ(), "mkdir", filepath.Join(root, "proc"), filepath.Join(root, "dev")) // which a container has from its runtime
	if said, code := runs(t, os.Environ(), "mknod", "-m", "666", filepath.Join(root, "dev", "null"), "c", "1", "3"); code != 0 {
		t.Skipf("no device can be made here: %s", said)
	}
	chroot, err := exec.LookPath("chroot") // which is not on the container's PATH
	if err != nil {
		t.Fatal(err)
	}
	inside := []string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc=" + filepath.Join(root, "proc")}
	inside = append(inside, chroot, "--userspec="+config.User, root)
	if said, code := runs(t, os.Environ(), append(inside, "/usr/bin/cmemd", "version")...); code != 0 {
		t.Skipf("no container can be made here: %s", said)
	}
	env := append(config.Env, "CMEMD_LISTEN=")
	if said := mustRun(t, env, append(inside, "/usr/bin/cmemd", "demo")...); !strings.Contains(said, "every chain holds") {
		t.Errorf("cmemd demo does not come to its end: %s", said)
	}
	health := append(append([]string{}, inside...), config.Healthcheck.Test[1:]...)
	if said, code := runs(t, env, health...); code == 0 {
		t.Errorf("a container in which nothing runs is well: %s", said)
	}
	daemon := exec.Command("/usr/bin/env", append(append(append([]string{}, inside...), config.Entrypoint...), config.Cmd...)...)
	daemon.Env = env
	startGroup(t, daemon)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		said, code := runs(t, env, health...)
		if code == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the container is not well after 30 s: %s", said)
		}
	}
	// An agent outside has its hook post to the socket in the volume, as the same user.
	volume := filepath.Join(root, "data")
	program := filepath.Join(root, "usr", "bin", "cmemd-hook")
	hook := exec.Command(chroot, "--userspec="+config.User, "/", program, "--home", volume, "claude-code")
	hook.Env = bare(t)
	hook.Stdin = strings.NewReader(`{"session_id":"from-outside","hook_event_name":"UserPromptSubmit","cwd":"/tmp","prompt":"keep this"}`)
	if out, err := hook.CombinedOutput(); err != nil {
		t.Errorf("the hook: %v: %s", err, out)
	}
	if said := mustRun(t, env, append(inside, "/usr/bin/cmemd", "sessions", "--json")...); !strings.Contains(said, "from-outside") {
		t.Errorf("the daemon knows nothing of the hook's session: %s", said)
	}
	if waiting, _ := filepath.Glob(filepath.Join(volume, "spool", "new", "*")); len(waiting) > 0 {
		t.Errorf("the hook did not reach the daemon, and spooled %v", waiting)
	}
	for volume := range config.Volumes {
		if _, err := os.Stat(filepath.Join(root, volume, "log.db")); err != nil {
			t.Errorf("the log is not in the volume: %v", err)
		}
	}
}

// TestHubImage: the image of cmemd-hub runs it in its volume, and says on which port.
func TestHubImage(t *testing.T) {
	needs(t, "tar")
	config, root := unpackImage(t, built(t), "cmemd-hub")
	if _, ok := config.ExposedPorts["4222/tcp"]; !ok || config.Healthcheck != nil || strings.Join(config.Entrypoint, " ") != "/usr/bin/cmemd-hub --dir /data" {
		t.Errorf("it is run by %+v", config)
	}
	mustRun(t, bare(t), filepath.Join(root, config.Entrypoint[0]), "--version")
	read(t, root, "usr", "share", "doc", "cmemd-hub", "THIRD-PARTY-LICENSES.txt")
}

// unpackImage returns the configuration of this machine's image, and a folder with its file system.
func unpackImage(t *testing.T, r release, product string) (v1.Config, string) {
	t.Helper()
	dir, root := t.TempDir(), t.TempDir()
	mustRun(t, os.Environ(), "tar", "-xf", filepath.Join(r.out, product+"_"+r.version+"_image.oci.tar"), "-C", dir)
	top, err := ocilayout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	img := platformOf(t, top)
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(file); !strings.Contains(string(got), r.commit) {
		t.Errorf("the image does not say its commit: %s", got)
	}
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // the image's user passes through it
		t.Fatal(err)
	}
	unpacking := exec.Command("tar", "-x", "--numeric-owner", "--same-permissions", "-C", root)
	layers := mutate.Extract(img)
	defer layers.Close()
	unpacking.Stdin = layers
	if out, err := unpacking.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file.Config, root
}

// platformOf is the image of this machine's kind in an index of indexes.
func platformOf(t *testing.T, index v1.ImageIndex) v1.Image {
	t.Helper()
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Manifests {
		if d.MediaType.IsIndex() {
			inner, err := index.ImageIndex(d.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return platformOf(t, inner)
		}
		if d.Platform.OS == native.os && d.Platform.Architecture == native.arch {
			img, err := index.Image(d.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	t.Fatalf("no image for %s", native)
	return nil
}

// TestTarKeeps: what an archive says of modes and owners is what was asked.
func TestTarKeeps(t *testing.T) {
	reader, writer := io.Pipe()
	go func() {
		files := []packed{{name: "tmp", mode: os.ModeDir | os.ModeSticky | 0o777}, {name: "run", mode: 0o755, data: []byte("x"), uid: 7}}
		writer.CloseWithError(writeTar(writer, files, time.Unix(1, 0)))
	}()
	tr := tar.NewReader(reader)
	for _, want := range []string{"tmp/ 1777 0 5 0 1", "run 755 7 0 1 1"} {
		got, err := tr.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %o %d %c %d %d", got.Name, got.Mode, got.Uid, got.Typeflag, got.Size, got.ModTime.Unix()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
