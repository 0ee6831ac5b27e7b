package peer

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/testkit/socket"
	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]process{
		"42 (cmemd) S 7 42 40 34816 42 4194560 1": {
			pid: 42, parent: 7, group: 42, session: 40, foreground: 42, terminal: true, names: []string{"cmemd"},
		},
		"42 (a) 1 (b) R 7 8 9 0 -1 0": {pid: 42, parent: 7, group: 8, session: 9, foreground: -1, names: []string{"a) 1 (b"}},
		"42 (cmemd) S 7 42":           {},
		"42 (cmemd) S x 42 40 0 0":    {},
		"42 cmemd":                    {},
		")(":                          {},
	} {
		got, err := parseStat(42, []byte(line))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(process{})); diff != "" || (err == nil) != (want.pid != 0) {
			t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
}

// FuzzStat: whatever a process calls itself, it is known by what the system says of it.
func FuzzStat(f *testing.F) {
	f.Add("cmemd", 7, 42, 40, 34816, 42)
	f.Add("a) S 1 2 3 (b\n", 7, 8, 9, 0, -1)
	f.Fuzz(func(t *testing.T, name string, parent, group, session, terminal, foreground int) {
		line := fmt.Sprintf("42 (%s) S %d %d %d %d %d 4194560 1\n", name, parent, group, session, terminal, foreground)
		want := process{
			pid: 42, parent: parent, group: group, session: session, terminal: terminal != 0, foreground: foreground, names: []string{name},
		}
		got, err := parseStat(42, []byte(line))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(process{})); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", line, err, diff)
		}
	})
}

// TestOf: over a real socket the other end is this very process, which runs its own executable in this folder.
func TestOf(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", filepath.Join(socket.Dir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	in, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := Of(in, Agents{Programs: []string{plain(os.Args[0])}})
	if got.Person || !got.Own || got.Folder != here || len(got.Arguments) == 0 {
		t.Errorf("got %+v, want no person, its own executable, in %s", got, here)
	}
	pipe, _ := net.Pipe()
	defer pipe.Close()
	if none := Of(pipe, Agents{}); none.Person || none.Own || none.Folder != "" {
		t.Errorf("of no socket: got %+v", none)
	}
}

// TestReadVariables: of a process the names of what it was started with are known.
func TestReadVariables(t *testing.T) {
	t.Parallel()
	c := exec.Command("cat")
	c.Env = []string{"AGENT_RUNS=1", "EMPTY="}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	if _, err := io.WriteString(in, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // before it runs, the system has another's variables of it, or none
		t.Fatal(err)
	}
	p, err := read(c.Process.Pid)
	if diff := cmp.Diff([]string{"AGENT_RUNS", "EMPTY"}, p.variables); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
