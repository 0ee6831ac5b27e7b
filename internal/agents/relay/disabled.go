package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cmemd/cmemd/internal/agents/known"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/toolinput"
)

// disabledAge is how long it is known that a session was not recorded because CMEMD_DISABLE was set.
const disabledAge = 30 * 24 * time.Hour

// maxDisabled is how many such sessions are known: more than a person starts in that time, and no disk full of notes where a program
// makes up new ones. The oldest give way.
const maxDisabled = 1000

// notifiedSuffix ends the name of a note of which the person was notified.
const notifiedSuffix = ".told"

// Disabled is what the hooks of a home wrote down about sessions of which nothing was recorded, because a variable said so: a person
// may have set it, or a folder that an agent was started in.
type Disabled struct {
	Sessions int // of the last 30 days
	Last     time.Time
}

// ReadDisabled returns what is known, and removes what is older than 30 days.
func ReadDisabled(home string, now time.Time) (d Disabled, err error) {
	files, err := durable.ReadDir(disabledDir(home))
	if err != nil {
		return d, err
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // removed meanwhile, or nothing of ours
		}
		if now.Sub(info.ModTime()) > disabledAge {
			_ = os.Remove(filepath.Join(disabledDir(home), f.Name())) // or the next time
			continue
		}
		d.Sessions++
		if info.ModTime().After(d.Last) {
			d.Last = info.ModTime()
		}
	}
	return d, nil
}

// SpeaksAt reports whether what a reply to an event says reaches the person: of an agent that is not known it is taken to.
func SpeaksAt(agent, event string) bool {
	a, ok := known.ByName(agent)
	return !ok || slices.Contains(a.NoticeEvents, event)
}

// DisabledNotice returns the line for the person at an event of an agent in a folder, where sessions there were not recorded that nobody
// was notified of yet; else nothing, as where the agent shows no line then. From now on they are notified.
func DisabledNotice(home, agent, event, folder string) string {
	if !SpeaksAt(agent, event) {
		return ""
	}
	switch n := takeUnnotified(home, folder); n {
	case 0:
		return ""
	case 1:
		return "Of the last session in this folder nothing was recorded: CMEMD_DISABLE was set."
	default:
		return "Of " + strconv.Itoa(n) + " sessions in this folder nothing was recorded: CMEMD_DISABLE was set."
	}
}

// takeUnnotified counts the sessions of a folder that the person was not notified of, and marks them.
func takeUnnotified(home, folder string) (sessions int) {
	files, err := durable.ReadDir(disabledDir(home))
	if err != nil {
		return 0
	}
	wanted := sumOfFolder(folder)
	for _, f := range files {
		path := filepath.Join(disabledDir(home), f.Name())
		if strings.HasSuffix(path, notifiedSuffix) {
			continue
		}
		if data, err := durable.ReadBounded(path, maxSmallFile); err == nil && string(data) == wanted && os.Rename(path, path+notifiedSuffix) == nil {
			sessions++
		}
	}
	return sessions
}

// countDisabled writes down, once a session, that it is not recorded. No name of it is kept: the file is called by the sum of the
// session's id, and holds that of its folder, by which the next session there knows.
func (h *hook) countDisabled() {
	if checkHome(h.Home) != nil {
		return
	}
	dir := disabledDir(h.Home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	path := filepath.Join(dir, sumOf(h.Agent, sessionOf(h.payload)))
	if _, err := os.Lstat(path + notifiedSuffix); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // it is known
	}
	_, _ = f.WriteString(sumOfFolder(folderOf(h.payload))) // without it nobody is notified at the next start; status counts the file
	_ = f.Close()
	dropOldest(dir)
}

// dropOldest removes the oldest notes where they are more than maxDisabled, a tenth of them at once: a hook waits for it.
func dropOldest(dir string) {
	files, err := durable.ReadDir(dir)
	if err != nil || len(files) <= maxDisabled {
		return
	}
	at := map[string]time.Time{}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			at[f.Name()] = info.ModTime()
		}
	}
	names := slices.SortedFunc(maps.Keys(at), func(a, b string) int { return at[a].Compare(at[b]) })
	for _, name := range names[:len(names)-maxDisabled*9/10] {
		_ = os.Remove(filepath.Join(dir, name))
	}
}

// sessionOf is the agent's id of the session that a payload is of; without one, the whole payload.
func sessionOf(payload []byte) (session string) {
	jsonscan.Scalars(payload, func(name string, value []byte) bool {
		switch toolinput.Plain(name) {
		case "sessionid", "conversationid", "trajectoryid", "session":
			if value[0] == '"' {
				session = jsonscan.Unquote(value)
			}
		}
		return session == ""
	})
	if session == "" {
		return string(payload)
	}
	return session
}

func sumOfFolder(folder string) string { return sumOf("folder", filepath.Clean(folder)) }

func sumOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

func disabledDir(home string) string { return filepath.Join(home, "disabled") }
