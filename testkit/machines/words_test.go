//go:build unix

package machines

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/eventlog/share/store/folder"
	"github.com/cmemd/cmemd/eventlog/share/store/jet"
	"github.com/cmemd/cmemd/testkit/capturetest"
	"github.com/cmemd/cmemd/testkit/secrets"
)

const (
	plantedSecrets = 40
	sealedEnd      = 48              // bytes of a sealed segment by which it is known again
	goneAsked      = 5 * time.Second // of what is forgotten, in all files of machines that are awake
)

// TestSecrets plants 40 secrets in commands, outputs, prompts and answers: none of it, no output, name, project or folder can be read in
// any file of the store.
func TestSecrets(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "planted-desktop", "planted-laptop")
		desktop := w.machines[0]
		planted := []string{"/src/shop", "tool_used", "observation_parsed", "claude-code", "planted-desktop", "planted-laptop"}
		for i, s := range secrets.Make(7)[:plantedSecrets] {
			output := fmt.Sprintf("raw output %d %s", i, uuid.NewString())
			prompt, answer := "asked "+uuid.NewString(), "answered "+uuid.NewString()
			planted = append(planted, s.Find, output, prompt, answer)
			session, id := fmt.Sprint("planted-", i), "toolu_"+uuid.NewString()
			for _, payload := range [][]byte{
				capturetest.Hook("UserPromptSubmit", session, map[string]any{"prompt": prompt + " with " + s.Text}),
				capturetest.ToolUse(session, id, "use "+s.Text, output+" "+s.Text),
				capturetest.Hook("Stop", session, map[string]any{"stop_hook_active": false, "last_assistant_message": answer + " " + s.Text}),
			} {
				_, err := desktop.client.Hook(t.Context(), "claude-code", payload, uuid.Must(uuid.NewV7()), time.Now())
				must(t, err)
			}
			desktop.acknowledged(id)
		}
		w.balances()
		here, err := holding(desktop.path, planted...)
		must(t, err)
		if len(here) < plantedSecrets {
			t.Fatalf("the machine's own files hold %d of what was planted: nothing can be said of the store's", len(here))
		}
		var forms []string
		for _, p := range planted {
			for skip := range min(3, len(p)) { // base64 has three ways to write what begins somewhere
				forms = append(forms, base64.RawStdEncoding.EncodeToString([]byte(p[skip:]))[:len(p)-3])
			}
			forms = append(forms, p, hex.EncodeToString([]byte(p)))
		}
		found, err := holding(w.where(), forms...)
		must(t, err)
		for _, f := range found {
			t.Errorf("the store can be read: %s", f)
		}
	})
}

// TestForget forgets what three machines know, of which one is off: within five seconds no file of the others has the words, the store
// not even what was sealed of them, and who has not confirmed is named.
func TestForget(t *testing.T) {
	over(t, func(t *testing.T, over string) {
		w := newWorld(t, over, "desktop", "laptop", "server")
		desktop, laptop, server := w.machines[0], w.machines[1], w.machines[2]
		desktop.use("built well")
		desktop.flush()
		before := w.segments()
		word := "quokka" + strings.ReplaceAll(uuid.NewString(), "-", "")
		desktop.mustSave("The shed has a " + word)
		desktop.flush()
		own, err := desktop.cluster()
		must(t, err)
		var sealed []string // the ends of what was sealed of that: its header stays as it is
		for key, body := range w.segments() {
			if before[key] == "" && strings.Contains(key, "/"+own.Status.Own.Log.String()+"/") {
				sealed = append(sealed, body[len(body)-sealedEnd:])
			}
		}
		desktop.use("found the " + word + " in the shed")
		desktop.ends()
		must(t, within(settleLimit, w.even))
		if len(sealed) == 0 {
			t.Fatal("nothing was sealed")
		}
		for dir, texts := range map[string][]string{desktop.path: {word}, laptop.path: {word}, server.path: {word}, w.where(): sealed} {
			if found, err := holding(dir, texts...); err != nil || len(found) == 0 {
				t.Fatalf("nothing of what is to be forgotten is in %s, %v", dir, err)
			}
		}
		server.stop()

		began := time.Now()
		said := make(chan string, 1)
		go func() {
			out, err := desktop.command(w.bin.Path("person"), w.bin.Path("cmemd"), "--home", desktop.path, "forget", "--query", word, "--yes")
			said <- fmt.Sprint(out, err)
		}()
		gone := func() error {
			var all []string
			for _, dir := range []string{desktop.path, laptop.path, w.where()} {
				found, err := holding(dir, word)
				if err != nil {
					return err
				}
				all = append(all, found...)
			}
			found, err := holding(w.where(), sealed...) // what was sealed before
			if err != nil {
				return err
			}
			all = append(all, found...)
			if len(all) > 0 {
				return fmt.Errorf("what is forgotten is there:\n%s", strings.Join(all, "\n"))
			}
			return nil
		}
		err = within(settleLimit, gone)
		took := time.Since(began)
		t.Logf("gone from all files after %v (%v asked)", took.Round(time.Millisecond), goneAsked)
		if err != nil || took > slack*goneAsked {
			t.Errorf("after %v: %v", took, err)
		}
		if line := <-said; !regexp.MustCompile(`gone here, in the store and on laptop; server has not`).MatchString(line) {
			t.Errorf("forget does not say who has confirmed: %s", line)
		}
		if line := desktop.saidOfAll(); !regexp.MustCompile(`forgetting .*not confirmed by server`).MatchString(line) {
			t.Errorf("status does not say who has not confirmed: %s", line)
		}
		server.start()
		must(t, within(settleLimit, func() error {
			found, err := holding(server.path, word)
			if len(found) > 0 {
				err = errors.New(strings.Join(found, "\n"))
			}
			c, asked := desktop.cluster()
			if asked == nil && len(c.Status.Forgets) > 0 {
				asked = fmt.Errorf("not confirmed: %+v", c.Status.Forgets)
			}
			return errors.Join(err, asked)
		}))
		must(t, gone())
		for _, m := range w.machines {
			m.sent, m.saved = nil, nil
			if n := m.finds(word); n != 0 {
				t.Errorf("%s finds what is forgotten %d times", m.name, n)
			}
		}
		w.balances()
	})
}

// segments are the sealed runs of records in the store.
func (w *world) segments() map[string]string {
	w.t.Helper()
	var s store.Store
	var err error
	if w.hub != nil {
		s, err = jet.Open(w.hub.address, jet.Config{})
	} else {
		s, err = folder.Open(w.folder, folder.Config{})
	}
	must(w.t, err)
	defer s.Close()
	all := map[string]string{}
	spaces, err := s.List(w.t.Context(), "", "", 1)
	must(w.t, err)
	prefix, _, _ := strings.Cut(string(spaces[0].Key), "/")
	for e, err := range store.All(w.t.Context(), s, prefix+"/log/", "") {
		must(w.t, err)
		body, _, err := s.Get(w.t.Context(), e.Key)
		must(w.t, err)
		all[string(e.Key)] = string(body)
	}
	return all
}
