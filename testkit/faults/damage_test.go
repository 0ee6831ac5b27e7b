//go:build unix

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
)

// pageSize is how much is damaged together: a page of a database, and a block of a disk.
const pageSize = 4096

// A damage is one way in which a file becomes another.
type damage struct {
	name string
	do   func(path string, content []byte, random *rand.Rand) error
}

// ways are the kinds of damage, by the names of docs/faults.md.
func ways() []damage {
	return []damage{
		{"flipped bit", rewritten(func(b []byte, r *rand.Rand) []byte {
			if len(b) > 0 {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			return b
		})},
		{"zeroed page", page(func(b, _ []byte, _ *rand.Rand) { clear(b) })},
		{"random page", page(func(b, _ []byte, r *rand.Rand) {
			for i := range b {
				b[i] = byte(r.Uint32())
			}
		})},
		{"copied page", page(func(b, other []byte, _ *rand.Rand) { copy(b, other) })},
		{"cut", rewritten(func(b []byte, r *rand.Rand) []byte { return b[:r.IntN(len(b)+1)] })},
		{"emptied", rewritten(func([]byte, *rand.Rand) []byte { return nil })},
		{"removed", func(path string, _ []byte, _ *rand.Rand) error { return os.Remove(path) }},
		{"appended", rewritten(func(b []byte, r *rand.Rand) []byte {
			return append(b, bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(2*pageSize))...)
		})},
		{"folder", func(path string, _ []byte, _ *rand.Rand) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}},
		{"pipe", func(path string, _ []byte, _ *rand.Rand) error { return errors.Join(os.Remove(path), pipe(path)) }},
	}
}

func rewritten(change func([]byte, *rand.Rand) []byte) func(string, []byte, *rand.Rand) error {
	return func(path string, b []byte, r *rand.Rand) error { return os.WriteFile(path, change(b, r), 0o600) }
}

// page changes one page of those that hold something.
func page(change func(b, other []byte, r *rand.Rand)) func(string, []byte, *rand.Rand) error {
	return rewritten(func(b []byte, r *rand.Rand) []byte {
		var held []int
		for at := 0; at < len(b); at += pageSize {
			if bytes.ContainsFunc(b[at:min(at+pageSize, len(b))], func(c rune) bool { return c != 0 }) {
				held = append(held, at)
			}
		}
		if len(held) > 0 {
			at, other := held[r.IntN(len(held))], held[r.IntN(len(held))]
			change(b[at:min(at+pageSize, len(b))], bytes.Clone(b[other:min(other+pageSize, len(b))]), r)
		}
		return b
	})
}

// A kind is a kind of files of a home, and what damage of them may take away.
type kind struct {
	name string
	is   func(inside string) bool // by a file's path inside the home
	may  harm
}

// kinds are what is damaged, by the names of docs/faults.md.
var kinds = []kind{
	{"log", named("log.db"), takeRecords}, {"views", named("views/views.db"), takeNothing},
	{"mark", named("views/views.db.open"), takeNothing}, {"index", below("views/index/"), takeNothing},
	{"spool", below("spool/new/"), takePayload}, {"keys", below("keys/"), takeNothing}, {"token", named("token"), takeNothing},
	{"config", named("config.toml"), takeNothing}, {"erasure", named("forget.json"), takeNothing},
	{"run", below("run/"), takeNothing}, {"variables", named("variables"), takeNothing},
}

func named(name string) func(string) bool { return func(inside string) bool { return inside == name } }

func below(dir string) func(string) bool {
	return func(inside string) bool { return strings.HasPrefix(inside, dir) }
}

// filesOf are the files of a home that are of a kind.
func (h *home) filesOf(is func(string) bool) (paths []string) {
	_ = filepath.WalkDir(h.path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && is(strings.TrimPrefix(path, h.path+"/")) {
			paths = append(paths, path)
		}
		return nil
	})
	return paths
}

// TestDamage damages one file of a home that no daemon has, and then uses it.
func TestDamage(t *testing.T) {
	bin := suite(t)
	random := seed(t)
	from := filled(t, bin)
	from.filled = time.Now()
	report(from, "spooled", 2)
	before := from.undamaged(t)
	n := *damages
	if *all {
		n *= 10
	}
	type plan struct {
		kind int
		way  damage
		seed uint64
	}
	var plans []plan
	for i := range n {
		plans = append(plans, plan{i % len(kinds), ways()[random.IntN(len(ways()))], random.Uint64()})
	}
	began := time.Now()
	atOnce(t, n, func() bool { return true }, 0, func(t *testing.T, i int) {
		p := plans[i]
		h := from.copyOf(t)
		h.damaged(kinds[p.kind], p.way, rand.New(rand.NewPCG(p.seed, 2)), before)
	}, func(i int) string { return fmt.Sprintf("%s/%s/%d", kinds[plans[i].kind].name, plans[i].way.name, i) })
	t.Logf("%d damages in %s", n, time.Since(began).Round(time.Second))
}

// undamaged is what is known of a home that no daemon has and that is not damaged: what its log holds, what is told of a copy once
// it was served, and which checks of doctor are not well before.
func (h *home) undamaged(t *testing.T) (before undamaged) {
	t.Helper()
	var err error
	if before.recorded, err = h.counted(); err != nil {
		t.Fatal(err)
	}
	c := h.copyOf(t)
	unwell, _ := c.deep()
	for _, f := range unwell {
		before.usual = append(before.usual, f.check)
	}
	before.told = c.told(t)
	if len(before.rows) == 0 || len(before.log) <= len(before.recorded) {
		t.Fatalf("a whole home tells %q, and holds %q where it held %q", before.rows, before.log, before.recorded)
	}
	if said := c.unwell("a whole home", nil); said != "" {
		t.Fatal(said)
	}
	for _, id := range afterwards {
		before.log = append(before.log, "1 "+id)
	}
	return before
}

// told serves a home that is whole, and reads what it tells.
func (h *home) told(t *testing.T) (out told) {
	t.Helper()
	c := h.serve()
	if err := h.settled(); err != nil {
		t.Errorf("a whole home does not come to rest: %v", err)
	}
	out.rows, _ = h.rows()
	h.stop(c)
	var err error
	if out.log, err = h.counted(); err != nil {
		t.Error(err)
	}
	return out
}

// counted is what the log of a home holds that no daemon has.
func (h *home) counted() (all []string, err error) {
	uses, saved, err := h.recorded()
	for _, m := range []map[string]int{uses, saved} {
		for k, n := range m {
			all = append(all, fmt.Sprintf("%d %s", n, k))
		}
	}
	slices.Sort(all)
	return all, err
}

// rows are what searches find; said is what they say where they fail.
func (h *home) rows() (titles []string, said string) {
	for _, words := range []string{"cellar", "cause"} {
		r := h.cmemd("search", words, "--json", "--limit", "50")
		var found struct {
			Results []struct{ Title, ID string } `json:"results"`
		}
		if err := json.Unmarshal([]byte(r.out), &found); err != nil || r.code != 0 && r.code != nothingFound {
			said += fmt.Sprintf("search: %s\n", r)
		}
		for _, f := range found.Results {
			titles = append(titles, words+": "+h.known(f.ID)+" "+f.Title)
		}
	}
	slices.Sort(titles)
	return titles, said
}

// known is the id of a row, or "new" of one that each copy of a home makes for itself, of what waited.
func (h *home) known(id string) string {
	u, err := uuid.Parse(id)
	if err != nil || h.filled.IsZero() {
		return id
	}
	if made := time.Unix(u.Time().UnixTime()); made.After(h.filled) {
		return "new"
	}
	return id
}

// damaged damages a file of a kind, uses the home as agents and a person would, and has it judged. Nothing may hang, and hooks fail
// nobody.
func (h *home) damaged(k kind, way damage, random *rand.Rand, before undamaged) {
	h.t.Helper()
	files := h.filesOf(k.is)
	if len(files) == 0 {
		h.t.Fatalf("there is no file of kind %s", k.name)
	}
	path := files[random.IntN(len(files))]
	content, err := os.ReadFile(path)
	if err == nil {
		err = way.do(path, content, random)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	said := h.unwell("before it is served", before.usual)
	now := h.usedDamaged()
	now.said = said + now.said + h.unwell("after it was served", nil)
	for _, fault := range unallowed(k.may, way.name == "removed", before, now) {
		h.t.Error(fault)
	}
	if h.t.Failed() {
		h.t.Logf("%s, %s\nsaid: %s\n%s", strings.TrimPrefix(path, h.path), way.name, now.said, h.said())
	}
}

// nothingFound is the exit code of a command that found nothing.
const nothingFound = 4

// afterwards are the ids of what is reported to a damaged home.
var afterwards = []string{"after_0", "after_1"}

// usedDamaged serves a damaged home as far as it can be served, and reports to it. It returns what became of it.
func (h *home) usedDamaged() (now outcome) {
	c, said := h.servable()
	for _, id := range afterwards {
		h.use("s0", id)
	}
	if c != nil {
		if err := h.settled(); err != nil {
			said += err.Error() + "\n"
		}
		rows, failed := h.rows()
		now.rows, now.searched, said = rows, failed == "", said+failed
		if r := h.cmemd("status"); r.code != 0 {
			said += "status: " + r.String()
		}
		if r := h.cmemd("stop"); r.code != 0 {
			said += "stop: " + r.String()
		}
		if err := c.ended(); err != nil {
			said += "the daemon: " + err.Error()
		}
	}
	var err error
	if now.log, err = h.counted(); err != nil {
		now.unread = true
	}
	now.kept, now.said = h.kept(), said
	return now
}

// kept is how many payloads wait in the spool, are set aside there, or are counted as lost.
func (h *home) kept() int {
	spool := spool.New(h.path)
	waiting, _, _ := spool.Usage() // what cannot be counted is not kept
	bad, _, _ := spool.DeadLetterUsage()
	u, _ := relay.ReadUnanswered(h.path)
	return waiting + bad + u.Lost
}

// unwell is what doctor says of the home that is not well, without the checks in except.
func (h *home) unwell(when string, except []string) (said string) {
	unwell, _ := h.deep()
	for _, f := range unwell {
		if !slices.Contains(except, f.check) {
			said += fmt.Sprintf("%s: %s\n", when, f)
		}
	}
	return said
}

// pipe makes a named pipe.
func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// A served is a daemon that may or may not come up.
type served struct {
	cmd  *exec.Cmd
	done chan error
}

// ended waits for the daemon, which may not hang.
func (s *served) ended() error {
	select {
	case err := <-s.done:
		return err
	case <-time.After(commandLimit):
		_ = s.cmd.Process.Kill()
		return errors.Join(errHangs, <-s.done)
	}
}

var errHangs = errors.New("it does not end")

// living is a daemon of the home that begins, and what it says on standard error, which is read after its end. It is killed when
// the test ends.
func (h *home) living() (s *served, said *bytes.Buffer) {
	h.t.Helper()
	c := exec.Command(h.bin.Path("cmemd"), "--home", h.path, "serve")
	c.Env, said = h.env(), new(bytes.Buffer)
	c.Stderr = said
	if err := c.Start(); err != nil {
		h.t.Fatal(err)
	}
	s = &served{c, make(chan error, 1)}
	go func() { s.done <- c.Wait() }()
	h.t.Cleanup(func() { _ = c.Process.Kill() })
	return s, said
}

// servable is a daemon of the home that is ready, or none, and why.
func (h *home) servable() (s *served, said string) {
	h.t.Helper()
	s, errs := h.living()
	ready := make(chan error, 1)
	go func() { ready <- h.ready() }() // ends within its limit
	select {
	case err := <-s.done:
		if err == nil || errs.Len() == 0 {
			h.t.Errorf("a daemon ended without a word: %v", err)
		}
		return nil, errs.String()
	case err := <-ready:
		if err == nil {
			return s, ""
		}
		if r := h.cmemd("status"); r.code == 0 {
			h.t.Errorf("a daemon is neither ready nor gone, and status says nothing: %v, %s", err, r)
		}
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		return nil, fmt.Sprintf("not ready: %v; %v\n", err, s.ended())
	}
}
