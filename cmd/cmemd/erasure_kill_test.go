package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/homedir"
	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/internal/api/client"
)

// TestForgettingIsKilledAtEveryMoment kills the daemon with SIGKILL while it forgets, and has the next one finish. What was
// begun is whole: no file of the home holds a word of it, what was not asked for is there, and the log is sound.
func TestForgettingIsKilledAtEveryMoment(t *testing.T) {
	takesLong(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	p := newProgram(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	whole, begun := 400*time.Millisecond, 0 // how long it takes, unkilled
	var daemon *exec.Cmd
	round := 0
	for ; round < 10 || begun < 3 && round < 40; round++ { // fewer than three would mean nothing
		daemon = p.serve(ctx)
		word := fmt.Sprintf("quetzal%dq", round)
		p.say(ctx, word, round)
		if files := p.holding(word); len(files) < 3 {
			t.Fatalf("%s is in %v alone before it is forgotten: the search does not work", word, files)
		}
		if files := p.holding(word + "secret"); !slices.Contains(files, homedir.PathsOf(p.home).Log) {
			t.Fatalf("%ssecret, of a payload that is compressed, is in %v before it is forgotten: the search does not work", word, files)
		}
		took := p.forgetAndKill(ctx, daemon, word, time.Duration(random.Int64N(int64(whole))))
		if took > 0 {
			whole = took * 11 / 10
		}
		daemon = p.serve(ctx)
		if p.finished(ctx, word) {
			begun++
		} else {
			whole += whole / 4 // this machine is slower than was thought
		}
		if files := p.holding(word); len(files) > 0 {
			t.Fatalf("round %d: %s is still in %v", round, word, files)
		}
		_ = daemon.Process.Kill()
		_ = daemon.Wait()
	}
	daemon = p.serve(ctx)
	p.checkSound(ctx, round)
	if err := p.command(ctx, "stop").Run(); err != nil {
		t.Errorf("stop: %v", err)
	}
	_ = daemon.Wait()
	if begun < 3 {
		t.Errorf("%d of %d had begun when they were killed, want 3", begun, round)
	}
	t.Logf("%d of %d had begun; one takes %v", begun, round, whole)
}

// say has two sessions say a word and other things, and puts payloads with the word beside the log.
func (p program) say(ctx context.Context, word string, round int) {
	p.t.Helper()
	client := client.Dial(p.home)
	defer client.Close()
	post := func(payload string) {
		if _, err := client.Hook(ctx, "claude-code", []byte(payload), uuid.Must(uuid.NewV7()), time.Now()); err != nil {
			p.t.Fatal(err)
		}
	}
	for s := range 2 {
		common := fmt.Sprintf(`"session_id":"forget-%d-%d","cwd":"/tmp","transcript_path":"/x"`, round, s)
		for i := range 20 {
			said, long := word, "short"
			switch {
			case i%2 == 0:
				said = "harmless"
			case i == 1:
				long = longWith(word)
			}
			post(fmt.Sprintf(`{%s,"hook_event_name":"PostToolUse","tool_name":"Edit","tool_use_id":"toolu_%d_%d_%d",`+
				`"tool_input":{"file_path":"/tmp/%s%d.go","old_string":"a","new_string":"b"},"tool_response":{"filePath":"/tmp/%s.go","note":%q}}`,
				common, round, s, i, said, i, said, long))
		}
		post(fmt.Sprintf(`{%s,"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Renamed to %s."}`, common, word))
	}
	if _, err := api.SaveRoute.Call(ctx, client, api.Memory{Project: "kept", Text: fmt.Sprintf("this stays %d", round)}); err != nil {
		p.t.Fatal(err)
	}
	bad := filepath.Join(p.home, "spool", "bad")
	if err := os.MkdirAll(bad, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, word), []byte(`{"broken": "`+word), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.awaitQuiet(ctx, client)
}

// awaitQuiet waits until nothing is pending and the views know all there is.
func (p program) awaitQuiet(ctx context.Context, client *client.Client) {
	p.t.Helper()
	for range 1500 {
		st, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
		behind := func(v api.ViewLag) bool { return v.Lag > 0 }
		if err == nil && st.Inputs.Pending == 0 && !slices.ContainsFunc(st.Views, behind) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.t.Fatal("the daemon does not come to rest")
}

// forgetAndKill asks for a word to be forgotten, and kills the daemon after a while. It returns how long it took if that was
// too late, and 0 if it was not.
func (p program) forgetAndKill(ctx context.Context, daemon *exec.Cmd, word string, after time.Duration) time.Duration {
	began, ended := time.Now(), make(chan time.Duration, 1)
	go func() {
		if p.forget(ctx, word) == nil {
			ended <- time.Since(began)
		}
		close(ended)
	}()
	time.Sleep(after) // the moment is the point
	_ = daemon.Process.Kill()
	_ = daemon.Wait()
	return <-ended
}

// forget has a word forgotten by a person's command.
func (p program) forget(ctx context.Context, word string) error {
	return p.byPerson(ctx, "forget", "--query", word, "--yes").Run()
}

// byPerson is a command that a person gives.
func (p program) byPerson(ctx context.Context, args ...string) *exec.Cmd {
	p.t.Helper()
	asks := p.command(ctx, append([]string{p.path}, args...)...)
	var err error
	asks.Args[0] = "person"
	if asks.Path, err = exec.LookPath("person"); err != nil {
		p.t.Fatal(err)
	}
	return asks
}

// finished waits until what a killed daemon had begun is done, and asks again where it had not. It reports which it was.
func (p program) finished(ctx context.Context, word string) (begun bool) {
	p.t.Helper()
	client := client.Dial(p.home)
	defer client.Close()
	for range 1500 {
		st, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
		if err == nil && st.Erasure != nil && !st.Erasure.Unfinished {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	begun = true
	plan, err := api.ForgetPlanRoute.Call(ctx, client, api.ForgetRequest{Query: word}.Plan(), nil)
	if err == nil && plan.Records+plan.Spooled > 0 {
		begun = false
		err = p.forget(ctx, word)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return begun
}

// holding lists the files of the home that hold a word.
func (p program) holding(word string) []string {
	p.t.Helper()
	files, err := holding(p.home, word)
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}

// checkSound holds that the log verifies, that the balance adds up, and that what nobody asked to forget is there.
func (p program) checkSound(ctx context.Context, rounds int) {
	p.t.Helper()
	client := client.Dial(p.home)
	defer client.Close()
	if v, err := api.VerifyRoute.Call(ctx, client, api.NoQuery{}, nil); err != nil {
		p.t.Errorf("verify: %+v, %v", v, err)
	}
	st, err := api.StatusRoute.Call(ctx, client, api.NoQuery{})
	if in := st.Inputs; err != nil || in.Captured != rounds*42 || in.Captured != in.Observed+in.Skipped+in.Dropped+in.Pending+in.Forgotten ||
		in.Forgotten != rounds*22 {
		p.t.Errorf("inputs %+v, %v; want %d captured and %d forgotten", in, err, rounds*42, rounds*22)
	}
	for round := range rounds {
		found, err := api.SearchRoute.Call(ctx, client, api.SearchQuery{Text: "stays", Project: "kept", Limit: 100})
		if err != nil || len(found.Results) != rounds {
			p.t.Errorf("round %d: %d memories are found, %v", round, len(found.Results), err)
		}
	}
}
