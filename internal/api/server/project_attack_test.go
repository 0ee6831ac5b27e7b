package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cmemd/cmemd/internal/api"
	"github.com/cmemd/cmemd/testkit/capturetest"
)

// repositoryAt makes a repository's data in dir, with a remote.
func repositoryAt(t *testing.T, dir, remote string) {
	t.Helper()
	for path, text := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": "[remote \"origin\"]\n\turl = " + remote + "\n",
		"objects/info/packs": "", "refs/heads/main": "",
	} {
		capturetest.WriteFile(t, filepath.Join(dir, path), []byte(text))
	}
}

// startIn starts a session in a folder and returns what its agent and its person are told.
func (w *world) startIn(t *testing.T, session, folder string) (context, notice string) {
	t.Helper()
	w.settled(t)
	reply, err := w.client.Hook(t.Context(), "claude-code", hook("SessionStart", session, map[string]any{"source": "startup", "cwd": folder}), newID(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		SystemMessage      string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if len(reply) > 0 {
		if err := json.Unmarshal(reply, &answer); err != nil {
			t.Fatalf("%s: %v", reply, err)
		}
	}
	return answer.HookSpecificOutput.AdditionalContext, answer.SystemMessage
}

// answer ends an answer of a session in a folder.
func (w *world) answer(t *testing.T, session, folder, says string) {
	t.Helper()
	w.post(t,
		hook("UserPromptSubmit", session, map[string]any{"prompt": "what is it about " + says, "prompt_id": newID().String(), "cwd": folder}),
		hook("Stop", session, map[string]any{"last_assistant_message": "Found: the secret is " + says + ".", "prompt_id": newID().String(), "cwd": folder}))
	w.settled(t)
}

// everything is all that is answered about the project of a folder, in every way in which it can be asked for.
func (w *world) everything(t *testing.T, folder string) string {
	t.Helper()
	var all []string
	add := func(what string, answer any, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s in %s: %v", what, folder, err)
		}
		all = append(all, fmt.Sprintf("%s: %+v", what, answer))
	}
	ctx := t.Context()
	found, err := api.SearchRoute.Call(ctx, w.client, api.SearchQuery{Text: "secret heron walrus", Project: folder})
	add("search", found.Results, err)
	line, err := api.TimelineRoute.Call(ctx, w.client, api.TimelineQuery{Anchor: "2020-01-01", Project: folder, After: 50})
	add("timeline", line.After, err)
	listed, err := api.SessionsRoute.Call(ctx, w.client, api.SessionsQuery{Project: folder})
	add("sessions", listed.Sessions, err)
	told, err := api.ContextRoute.Call(ctx, w.client, api.ContextQuery{Cwd: folder})
	add("context", told.Text, err)
	atPrompt, err := api.ContextRoute.Call(ctx, w.client, api.ContextQuery{Cwd: folder, Prompt: "is the secret the heron or the walrus"})
	add("at a prompt", atPrompt.Text, err)
	var rows []api.Row
	err = w.client.ExportRows(ctx, api.ExportQuery{Project: folder}, func(r api.Row) error { rows = append(rows, r); return nil })
	add("export", rows, err)
	plan, err := api.ForgetPlanRoute.Call(ctx, w.client, api.ForgetRequest{Project: folder}.Plan(), nil)
	add("forget", plan.Sample, err)
	return strings.Join(all, "\n")
}

// TestNoRepositoryNamesAProject: whatever a clone or an archive says of itself, it neither reads the memory of the project that it
// claims to be nor writes to it, until the person joins the two.
func TestNoRepositoryNamesAProject(t *testing.T) {
	t.Parallel()
	const remote = "git@github.com:victim/payroll.git"
	for name, c := range map[string]struct {
		victim func(t *testing.T, dir string)
		evil   func(t *testing.T, dir, victim string)
		in     string // below the evil folder: where its session works
		looks  bool   // like the victim, which is told
	}{
		"a remote's address": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, _ string) {
				repositoryAt(t, filepath.Join(dir, ".git"), "https://github.com/victim/payroll.git")
			}, "", true,
		},
		"an embedded bare repository": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, _ string) {
				repositoryAt(t, filepath.Join(dir, ".git"), "https://example.org/evil")
				repositoryAt(t, filepath.Join(dir, "docs"), remote)
			}, "docs", false,
		},
		"a bare repository in an archive": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, _ string) { repositoryAt(t, filepath.Join(dir, "docs"), remote) }, "docs", true,
		},
		"a committed file": {
			func(t *testing.T, dir string) {
				capturetest.WriteFile(t, filepath.Join(dir, ".cmemd-project"), []byte("payroll\n"))
			},
			func(t *testing.T, dir, _ string) {
				repositoryAt(t, filepath.Join(dir, ".git"), "https://example.org/evil")
				capturetest.WriteFile(t, filepath.Join(dir, ".cmemd-project"), []byte("payroll\n"))
			}, "", true,
		},
		"a committed file that names a path": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, victim string) {
				capturetest.WriteFile(t, filepath.Join(dir, ".cmemd-project"), []byte(victim+"\n"))
			}, "", false,
		},
		"a .git file": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, victim string) {
				capturetest.WriteFile(t, filepath.Join(dir, ".git"), []byte("gitdir: "+filepath.Join(victim, ".git")+"\n"))
			}, "", true,
		},
		"a worktree of its own making": {
			func(t *testing.T, dir string) { repositoryAt(t, filepath.Join(dir, ".git"), remote) },
			func(t *testing.T, dir, victim string) {
				capturetest.WriteFile(t, filepath.Join(dir, ".git"), []byte("gitdir: data\n"))
				capturetest.WriteFile(t, filepath.Join(dir, "data", "HEAD"), []byte("ref: refs/heads/main\n"))
				capturetest.WriteFile(t, filepath.Join(dir, "data", "commondir"), []byte(filepath.Join(victim, ".git")+"\n"))
				capturetest.WriteFile(t, filepath.Join(dir, "data", "gitdir"), []byte(filepath.Join(dir, ".git")+"\n"))
			}, "", true,
		},
		"a folder's name": {
			func(*testing.T, string) {}, func(*testing.T, string, string) {}, "", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			victim, evil := filepath.Join(base, "payroll"), filepath.Join(base, "evil", "payroll")
			for _, dir := range []string{victim, evil} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.victim(t, victim)
			c.evil(t, evil, victim)
			at := filepath.Join(evil, c.in)
			w.startIn(t, "victim", victim)
			w.answer(t, "victim", victim, "heron")
			told, notice := w.startIn(t, "evil", at)
			if strings.Contains(told, "heron") {
				t.Errorf("it is told %s", told)
			}
			if got := strings.Contains(notice, "cmemd project join"); got != c.looks || c.looks && !strings.Contains(notice, victim) {
				t.Errorf("its person is told %q, want to hear of %s: %t", notice, victim, c.looks)
			}
			w.answer(t, "evil", at, "walrus")
			if _, err := api.SaveRoute.Call(t.Context(), w.client, api.Memory{Project: at, Text: "the secret is the walrus"}); err != nil {
				t.Fatal(err)
			}
			if told, notice = w.startIn(t, "victim-2", victim); strings.Contains(told, "walrus") || !strings.Contains(told, "heron") || notice != "" {
				t.Errorf("the victim is told %s, %q", told, notice)
			}
			if _, notice = w.startIn(t, "evil-2", at); notice != "" {
				t.Errorf("its person is told again: %q", notice)
			}
			w.settled(t)
			if all := w.everything(t, at); strings.Contains(all, "heron") || !strings.Contains(all, "walrus") {
				t.Errorf("read:\n%s", all)
			}
			if all := w.everything(t, victim); strings.Contains(all, "walrus") || !strings.Contains(all, "heron") {
				t.Errorf("written:\n%s", all)
			}
		})
	}
}
