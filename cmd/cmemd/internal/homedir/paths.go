package homedir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/agents/spool"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/owned"
)

// Paths is where a home keeps what.
type Paths struct {
	Home      string
	Log       string // the log: all that matters
	Views     string // folder; what is in it can be deleted
	Index     string // folder, below views
	Vectors   string // file, below views
	Forget    string // what is being forgotten: positions, never words
	Copies    string // folder, below machines; copies of other machines' logs. It can be deleted: they send them again
	Machines  string // folder, of what is shared with other machines; only a home that joined has one
	Watch     string // how far transcripts were read
	Ingest    string // how far old sessions were taken in
	Token     string
	Run       string // folder
	version   string // which cmemd last had the log open for writing
	Damage    string // what is known of damage of the log
	Daemon    string // what the running daemon wrote down
	Viewers   string // the browsers that are let in
	Runs      string // folder of what claude-cli runs
	Socket    string
	logs      string // folder
	LogFile   string // of the daemon
	StartLog  string // what a daemon says before its own log file is open
	IngestLog string // what says who takes in old sessions

	NextObserver string // who is to observe when nothing waits any more
	NextLog      string // what says who waits for that

	logWanted string // which daemon that starts waits for the log
}

func PathsOf(home string) Paths {
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	return Paths{
		Home: home, Log: in("log.db"), Views: in("views"), Index: in("views", "index"), Vectors: in("views", "vectors"),
		Forget: in("forget.json"), Copies: in("machines", "copies"), Machines: in("machines"), Watch: in("watch.json"), Ingest: in("ingest.json"),
		NextObserver: in("next-observer.json"), NextLog: in("logs", "next-observer.log"),
		Token: in("token"), version: in("version"),
		Run: in("run"), Daemon: in("run", "daemon.json"), Damage: in("run", "log-damage.json"), Viewers: in("run", "viewers.json"),
		Runs: relay.ObserverRuns(home), Socket: relay.SocketPath(home),
		logWanted: in("run", "log.wanted"),
		logs:      in("logs"), LogFile: in("logs", "cmemd.log"), StartLog: in("logs", "start.log"),
		IngestLog: in("logs", "ingest.log"),
	}
}

// Of is the paths of the home that a command works with.
func Of(a *terminal.App) (Paths, error) {
	home, err := a.Home()
	return PathsOf(home), err
}

// AsideFiles lists what was set aside in the home of a command; nothing where its home is not known.
func AsideFiles(a *terminal.App) []AsideFile {
	p, err := Of(a)
	if err != nil {
		return nil
	}
	return p.Aside()
}

// Made is Of once the folders are there; see Make.
func Made(a *terminal.App) (Paths, error) {
	p, err := Of(a)
	if err != nil {
		return p, err
	}
	return p, p.Make()
}

// checkKinds refuses what is neither a file nor a folder where one of them is to be: to open it may wait for ever.
func (p Paths) checkKinds() error {
	views := filepath.Join(p.Views, "views.db")
	for _, path := range []string{
		p.Home, p.Log, p.Views, views, views + ".open", p.Index, p.Vectors, p.Copies, p.Forget, p.Watch, p.Ingest, p.NextObserver,
		p.NextLog, p.Token, p.version, p.Run, p.Daemon, p.Damage, p.Viewers, p.logs, p.LogFile, p.StartLog, p.IngestLog,
	} {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return terminal.Advise(fmt.Errorf("%s is neither a file nor a folder (%s)", path, info.Mode().Type()), "move it away")
		}
	}
	return nil
}

// readFile reads a file of a home, which may be a link to one; durable.ErrIrregular: it is none, and would be waited for.
func readFile(path string, limit int64) ([]byte, error) {
	b, err := durable.ReadLinked(path, limit)
	if errors.Is(err, durable.ErrIrregular) || errors.Is(err, durable.ErrTooLong) {
		err = terminal.Advise(fmt.Errorf("%s: %w", path, err), "move it away")
	}
	return b, err
}

// Make makes the folders of a home, open to this user only, and lays a key for what hooks keep and a file for what they count.
// It returns an error wrapping owned.ErrOthers where others could change that, and then has made none.
func (p Paths) Make() error {
	if err := p.checkKinds(); err != nil {
		return err
	}
	if err := p.MakeHome(); err != nil {
		return err
	}
	switch err := os.Chmod(p.Home, 0o700); { // it may have been there before, open to others
	case errors.Is(err, fs.ErrPermission):
		return terminal.Advise(err, "CMEMD_HOME must be this user's own folder")
	case err != nil: // of a disk that is read-only, say
		return terminal.Advise(err, nameWritable)
	}
	if err := CheckParents(p.Home); err != nil {
		return err
	}
	for _, dir := range []string{p.Run, p.Views, p.logs} {
		if err := makeDir(dir); err != nil {
			return err
		}
	}
	_ = relay.LayNotes(p.Home) // where it cannot be laid now, a hook tries again
	return spool.LayKey(p.Home, time.Now())
}

// MakeHome makes the folder of the home, open to this user only, where there is none; one of this user's stays as it is. It returns an error
// wrapping owned.ErrOthers where it is another user's, or would be made in a folder of theirs or in one that others may write to, and then has
// changed nothing: what sudo makes below somebody's HOME belongs to root, and they could not even remove it.
func (p Paths) MakeHome() error {
	switch info, err := os.Stat(p.Home); {
	case err == nil && owned.IsAnothers(info):
		return CheckParents(p.Home)
	case !errors.Is(err, fs.ErrNotExist):
		return nil // whoever opens it finds what else is wrong with it
	}
	if err := CheckParents(p.Home); errors.Is(err, owned.ErrOthers) {
		return err
	}
	return makeDir(p.Home)
}

func makeDir(dir string) error {
	return terminal.Advise(os.MkdirAll(dir, 0o700), nameWritable)
}

const nameWritable = "let CMEMD_HOME name a folder that this user may write to"

// TokenBytes is how long the token of the loopback address is: nobody guesses 256 bits.
const TokenBytes = 32

// maxTokenFile bounds what is read as a token.
const maxTokenFile = 64 << 10

// ReadToken returns the token that the file at path holds; it may be none, or too short. Errors are those of reading the file.
func ReadToken(path string) (string, error) {
	b, err := readFile(path, maxTokenFile)
	return strings.TrimSpace(string(b)), err
}

// LoadToken returns the token that the file at path holds, and makes one where there is none, or none in it.
func LoadToken(path string) (string, error) {
	token, err := ReadToken(path)
	switch {
	case err == nil && token == "":
		return MakeToken(path)
	case err == nil && len(token) < TokenBytes:
		return "", terminal.Advise(fmt.Errorf("%s holds no token of at least %d characters", path, TokenBytes), "delete it; the daemon makes another")
	case err == nil:
		return token, os.Chmod(path, 0o600)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return MakeToken(path)
}

// MakeToken puts a new token into the file at path.
func MakeToken(path string) (string, error) {
	secret := make([]byte, TokenBytes)
	_, _ = rand.Read(secret) // never fails
	token := hex.EncodeToString(secret)
	return token, durable.Replace(path, []byte(token+"\n"), OwnFile)
}

// OwnFile is the mode of what nobody but this user may read.
const OwnFile fs.FileMode = 0o600
