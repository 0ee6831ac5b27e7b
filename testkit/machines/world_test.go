//go:build unix

package machines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/testkit/programs"
	"github.com/cmemd/cmemd/testkit/socket"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// world is some machines that have joined one store, and one beside them that has not.
type world struct {
	t        *testing.T
	bin      *programs.Set
	folder   string // the store; empty: it is hub
	hub      *hub
	machines []*machine // the first one is connected by the hub's proxy
	beside   *machine
	hooks    times
	lasts    map[string]uint64 // how many records each machine had when even was called last
}

// newWorld makes machines over a hub, or over a folder.
func newWorld(t *testing.T, over string, names ...string) *world {
	t.Helper()
	w := &world{t: t, bin: suite(t)}
	dir := socket.Dir(t)
	var where, first string
	if over == "hub" {
		w.hub = newHub(t, w.bin, filepath.Join(dir, "hub"))
		where, first = w.hub.address, w.hub.through(w.hub.proxy.Addr())
	} else {
		w.folder = filepath.Join(dir, "sync")
		must(t, os.Mkdir(w.folder, 0o700))
		where, first = w.folder, w.folder
	}
	w.beside = w.adds(newMachine(t, w.bin, "beside"))
	var code string
	for i, name := range names {
		m := w.adds(newMachine(t, w.bin, name))
		w.machines = append(w.machines, m)
		switch i {
		case 0:
			code = m.join(first)
		default:
			m.join(where, code)
			code = w.invite(m)
		}
	}
	return w
}

func (w *world) adds(m *machine) *machine {
	m.hooks = &w.hooks
	return m
}

// invite is a code for one more machine.
func (w *world) invite(by *machine) string {
	w.t.Helper()
	var said struct{ Code string }
	must(w.t, json.Unmarshal([]byte(by.person("invite", "--json")), &said))
	return said.Code
}

// enters makes one more machine, which joins.
func (w *world) enters(name string) *machine {
	w.t.Helper()
	where := w.folder
	if w.hub != nil {
		where = w.hub.address
	}
	m := w.adds(newMachine(w.t, w.bin, name))
	m.join(where, w.invite(w.machines[len(w.machines)-1]))
	w.machines = append(w.machines, m)
	return m
}

// where is the folder in which the store keeps everything.
func (w *world) where() string {
	if w.hub != nil {
		return w.hub.dir
	}
	return w.folder
}

// wipe empties the store. An empty folder passes for one that is not mounted until a person says otherwise, as status tells them to.
func (w *world) wipe() {
	w.t.Helper()
	dir := w.folder
	if w.hub != nil {
		dir = filepath.Join(w.hub.dir, "jetstream")
		w.hub.kill()
	}
	entries, err := os.ReadDir(dir)
	must(w.t, err)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	must(w.t, err)
	if w.hub != nil {
		w.hub.start()
		return
	}
	must(w.t, within(settleLimit, func() error {
		if said := w.machines[0].saidOfAll(); !strings.Contains(said, "has no file .cmemd") {
			return fmt.Errorf("nothing is said of a folder that is empty:\n%s", said)
		}
		return nil
	}))
	must(w.t, os.WriteFile(filepath.Join(dir, ".cmemd"), nil, 0o600))
}

// loadPause is between two rounds of reports: with it all homes together start some 60 processes a second.
const loadPause = 15 * time.Millisecond

// underLoad has agents report on all machines by turns while do runs, and until there are hooks enough to be judged.
func (w *world) underLoad(do func()) {
	w.t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			for _, m := range append([]*machine{w.beside}, w.machines...) {
				m.report(i)
			}
			select {
			case <-stop:
				if !w.hooks.few() || w.t.Failed() {
					return
				}
			default:
			}
			time.Sleep(loadPause)
		}
	}()
	defer func() {
		close(stop)
		<-done
	}()
	do()
}

// holds holds that in the end all is as it should be, and that hooks were as quick as beside.
func (w *world) holds() {
	w.t.Helper()
	w.balances()
	w.t.Logf("hooks: %s", &w.hooks)
	if wrong := w.hooks.judge(); wrong != "" {
		w.t.Errorf("%s: %s", wrong, &w.hooks)
	}
}

// over runs a test over a folder and over a hub.
func over(t *testing.T, test func(t *testing.T, over string)) {
	suite(t)
	for _, store := range []string{"folder", "hub"} {
		t.Run(store, func(t *testing.T) { test(t, store) })
	}
}

// hub is a store that is a process, on loopback.
type hub struct {
	t       *testing.T
	bin     *programs.Set
	dir     string
	listen  string // HOST:PORT
	address string // as machines join it
	proxy   *storetest.Proxy
	cmd     *exec.Cmd
}

func newHub(t *testing.T, bin *programs.Set, dir string) *hub {
	t.Helper()
	h := &hub{t: t, bin: bin, dir: dir, listen: "127.0.0.1:0"}
	h.start()
	t.Cleanup(h.kill)
	h.proxy = storetest.NewProxy(t, h.listen)
	return h
}

// start starts the process, and returns when machines can join.
func (h *hub) start() {
	h.t.Helper()
	h.cmd = exec.Command(h.bin.Path("cmemd-hub"), "--json", "--dir", h.dir, "--listen", h.listen)
	var said bytes.Buffer
	h.cmd.Stderr = &said
	out, err := h.cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, h.cmd.Start())
	var at struct{ Address, Listen string }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		h.t.Fatalf("the hub: %v\n%s", err, said.String())
	}
	h.address, h.listen = at.Address, at.Listen
}

func (h *hub) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait() // that it was killed, or that it had ended
}

// through is the hub's address by another host and port.
func (h *hub) through(hostPort string) string {
	h.t.Helper()
	all, err := jet.ParseAddresses(h.address)
	must(h.t, err)
	all[0].URL.Host = hostPort
	return all[0].String()
}

// holding are the files below a folder that hold one of some texts, each with the text.
func holding(dir string, texts ...string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // what goes meanwhile
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, text := range texts {
			if bytes.Contains(b, []byte(text)) {
				found = append(found, fmt.Sprintf("%s has %.60q", path, text))
			}
		}
		return nil
	})
	return found, err
}
