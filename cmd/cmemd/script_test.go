package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/bbolt"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/clitest"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/config"
	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
	"github.com/cmemd/cmemd/internal/setting"
	"github.com/cmemd/cmemd/internal/tomledit"
	"github.com/cmemd/cmemd/testkit/person"
	"github.com/cmemd/cmemd/testkit/race"
)

// all adds the scripts and tests that take longest: most start, stop and kill many processes. The gate runs them in a step of their
// own, so that `go test ./...` ends in minutes.
var all = flag.Bool("all", false, "run the scripts and tests that take longest, too")

// takesLong skips a test unless all are wanted.
func takesLong(t *testing.T) {
	t.Helper()
	if !*all {
		t.Skip("go test ./cmd/cmemd -all runs it")
	}
}

// conditions are those of the scripts beside testscript's own: [all] holds with -all, [smalldisk] where smalldisk works.
func conditions(name string) (bool, error) {
	switch name {
	case "all":
		return *all, nil
	case "smalldisk":
		return canMount()
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// TestMain makes this program the real cmemd of the scripts, in two releases too.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // most of the time they wait for other processes; a flag that is given counts
	released := func(v string) func() {
		return func() { version = v; main() }
	}
	testscript.Main(m, map[string]func(){"cmemd": main, "cmemd-old": released("0.9.1"), "cmemd-new": released("v0.10.0"), "person": person.Main})
}

// TestScripts runs the command as people and agents do, each script with a home and a daemon of its own.
func TestScripts(t *testing.T) {
	race.SkipProcesses(t)
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), Setup: setUp, RequireUniqueNames: true, Condition: conditions,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"work": work, "eventually": eventually, "crash": crash, "takeport": takePort, "holdlog": holdLog,
			"newerlog": newerLog, "capture": setFound, "damagelog": damageLog,
			"plantcount": plantCount, "service": services(t), "keyless": keyless, "smalldisk": smallDisk,
			"setting": setSetting, "nowhere": nowhere, "oldhome": oldHome, "oldclones": oldClones, "machine": machine, "somewhere": somewhere, "embeddings": embeddings,
		},
	})
}

// foreign is the beginnings of variables by which the machine's own cmemd and agents could reach into a script.
func foreign() []string {
	return []string{"CMEMD_", "XDG_", "CLAUDE", "CODEX_", "GEMINI_", "CURSOR_", "OPENCODE_", "ANTHROPIC_", "OPENAI_"}
}

func setUp(env *testscript.Env) error {
	kept := env.Vars[:0:0]
	for _, kv := range env.Vars {
		own := true
		for _, prefix := range foreign() {
			own = own && !strings.HasPrefix(kv, prefix)
		}
		if own {
			kept = append(kept, kv)
		}
	}
	home := filepath.Join(env.WorkDir, "home")
	env.Vars = append(kept, "CMEMD_HOME="+home, "TZ=UTC", "NO_COLOR=1", "GORACE="+os.Getenv("GORACE"))
	return makeHome(home, env.Defer)
}

// makeHome makes a home whose daemon uses no port, and ends with the script.
func makeHome(home string, atEnd func(func())) error {
	if err := writeSettings(home, []string{"listen="}); err != nil {
		return err
	}
	atEnd(func() {
		if d, err := homedir.ReadDaemonFile(homedir.PathsOf(home).Daemon); err == nil {
			_ = d.Signal(syscall.SIGKILL) // it may have ended by itself
		}
		printFailed(home)
	})
	return nil
}

// printFailed prints what a home's daemon logged of requests that failed for no reason that it knows: a script shows only that one did.
func printFailed(home string) {
	data, _ := os.ReadFile(filepath.Join(home, "logs", "cmemd.log")) // a home without a daemon has none
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, "request failed") {
			fmt.Print(home, ": ", line)
		}
	}
}

// machine NAME goes on as on another machine: with a home of its own, $WORK/NAME, which is made the first time.
func machine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: machine NAME")
	}
	at := ts.MkAbs(args[0])
	if _, err := os.Stat(at); err != nil {
		ts.Check(makeHome(at, ts.Defer))
	}
	ts.Setenv("CMEMD_HOME", at)
}

// setting KEY=VALUE... writes settings into the home's config.toml, good ones or not.
func setSetting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: setting KEY=VALUE...")
	}
	ts.Check(writeSettings(home(ts).Home, args))
}

func writeSettings(home string, settings []string) error {
	path := filepath.Join(home, config.FileName)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, kv := range settings {
		key, value, _ := strings.Cut(kv, "=")
		keys, err := tomledit.Parse(data)
		if err != nil {
			return err
		}
		if s, err := config.SettingNamed(key); err != nil || s.Kind != setting.KindNumber {
			value = tomledit.Quote(value)
		}
		data = keys.With(key, value)
	}
	return errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(path, data, 0o600))
}

func home(ts *testscript.TestScript) homedir.Paths { return homedir.PathsOf(ts.Getenv("CMEMD_HOME")) }

// work SESSION has an agent's session go on through hooks: it starts, asks, edits a file, runs the tests and stops.
func work(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: work SESSION")
	}
	client := client.Dial(home(ts).Home)
	defer client.Close()
	for i, event := range sessionPayloads(args[0]) {
		payload, err := json.Marshal(event)
		ts.Check(err)
		_, err = client.Hook(context.Background(), "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now())
		if err != nil {
			ts.Fatalf("hook %d: %v", i, err)
		}
	}
}

// sessionPayloads is one answer of an agent as Claude Code reports it.
func sessionPayloads(session string) []map[string]any {
	common := func(event string, more map[string]any) map[string]any {
		more["session_id"], more["cwd"], more["hook_event_name"], more["prompt_id"] = session, "/src/shop", event, session+"-p1"
		return more
	}
	return []map[string]any{
		common("SessionStart", map[string]any{"source": "startup"}),
		common("UserPromptSubmit", map[string]any{"prompt": "Fix the flaky checkout test"}),
		common("PostToolUse", map[string]any{
			"tool_name": "Edit", "tool_use_id": session + "-edit", "duration_ms": 12,
			"tool_input":    map[string]any{"file_path": "/src/shop/cart.go", "old_string": "a", "new_string": "b"},
			"tool_response": map[string]any{"filePath": "/src/shop/cart.go", "oldString": "a", "newString": "b"},
		}),
		common("PostToolUse", map[string]any{
			"tool_name": "Bash", "tool_use_id": session + "-test", "duration_ms": 900,
			"tool_input":    map[string]any{"command": "go test ./..."},
			"tool_response": map[string]any{"stdout": "ok \u001b[31mshop\u202e", "stderr": "", "interrupted": false},
		}),
		common("Stop", map[string]any{"last_assistant_message": "The checkout test waited for the wrong lock; the cart now holds one."}),
	}
}

// eventually PATTERN COMMAND... runs a command until its output matches.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	limit := time.Now().Add(clitest.Timeout)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) { // a command takes as long to start
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if pattern.MatchString(out) {
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("no match for %q (%v) in\n%s%s", args[0], err, out, ts.ReadFile("stderr"))
		}
		time.Sleep(pause)
	}
}

// crash kills the daemon where it stands.
func crash(ts *testscript.TestScript, _ bool, _ []string) {
	d, err := homedir.ReadDaemonFile(home(ts).Daemon)
	ts.Check(err)
	ts.Check(d.Signal(syscall.SIGKILL))
	client := client.Dial(home(ts).Home)
	defer client.Close()
	waitFor(ts, "the daemon to die", func() bool { // its threads end one by one, and its socket with the last
		return !d.Lives() && errors.Is(client.Alive(context.Background()), api.ErrNotRunning)
	})
}

func waitFor(ts *testscript.TestScript, what string, done func() bool) {
	for limit := time.Now().Add(clitest.Timeout); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			ts.Fatalf("waited too long for %s", what)
		}
	}
}

// takeport listens at a free port and has the settings name it.
func takePort(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Check(writeSettings(home(ts).Home, []string{"listen=" + l.Addr().String()}))
}

// holdlog opens the log as another process would, until the script ends, and has HOLDER name this one.
func holdLog(ts *testscript.TestScript, _ bool, _ []string) {
	p := home(ts)
	ts.Check(p.Make())
	log, err := eventlog.Open(p.Log, eventlog.Config{})
	ts.Check(err)
	ts.Defer(func() { log.Close() })
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
}

// newerlog makes the log one of a format that is not known yet.
func newerLog(ts *testscript.TestScript, _ bool, _ []string) {
	p := home(ts)
	ts.Check(p.Make())
	log, err := eventlog.Open(p.Log, eventlog.Config{})
	ts.Check(err)
	ts.Check(log.Close())
	db, err := bbolt.Open(p.Log, 0o600, &bbolt.Options{Timeout: time.Second})
	ts.Check(err)
	ts.Check(db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("head")).Put([]byte("\x00format"), binary.BigEndian.AppendUint32(nil, 99))
	}))
	ts.Check(db.Close())
}

// damagelog changes a record of a log that nobody has open; with an argument, its bytes wherever they are in the file.
func damageLog(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) > 0 {
		damageCopies(ts)
		return
	}
	db, err := bbolt.Open(home(ts).Log, 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	ts.Check(err)
	ts.Check(db.Update(func(tx *bbolt.Tx) error {
		log := tx.Bucket([]byte("log"))
		key := binary.BigEndian.AppendUint64(nil, 2)
		value := append([]byte(nil), log.Get(key)...)
		value[len(value)-1] ^= 1
		return log.Put(key, value)
	}))
	ts.Check(db.Close())
}

// damageCopies writes over the record at position 2 in each page that holds it.
func damageCopies(ts *testscript.TestScript) {
	b, err := os.ReadFile(home(ts).Log)
	ts.Check(err)
	key := binary.BigEndian.AppendUint64(nil, 2)
	for at, found := 0, 0; ; at += found + 1 {
		if found = bytes.Index(b[at:], append(key, 1)); found < 0 {
			break
		}
		clear(b[at+found:][:120])
	}
	ts.Check(os.WriteFile(home(ts).Log, b, 0o600))
}

// plantcount has the view of outcomes, which nobody has open, count one observed input more than there are.
func plantCount(ts *testscript.TestScript, _ bool, _ []string) {
	db, err := bbolt.Open(filepath.Join(home(ts).Views, "views.db"), 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	ts.Check(err)
	ts.Check(db.Update(func(tx *bbolt.Tx) error {
		all := make([]byte, 16) // the key of all sessions together
		balances := tx.Bucket([]byte("outcomes")).Bucket([]byte("balances"))
		var stored map[int]any
		whole := balances.Get(all)
		value, sum := whole[:len(whole)-4], bytes.Clone(whole[len(whole)-4:])
		if err := cbor.Unmarshal(value, &stored); err != nil {
			return err
		}
		counts := stored[1].([]any)
		counts[1] = counts[1].(uint64) + 1
		b, err := cbor.Marshal(stored)
		if err != nil {
			return err
		}
		return balances.Put(all, append(b, sum...)) // the checksum of what was there
	}))
	ts.Check(db.Close())
}

// capture NAME PATTERN sets NAME to what the first group of PATTERN finds in the last command's output.
func setFound(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("no match for %q in\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
	ts.Logf("%s", fmt.Sprintf("%s=%s", args[0], found[1]))
}
