package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/agents/relay"
	"github.com/cmemd/cmemd/internal/durable"
)

// paths is where a home keeps what.
type paths struct {
	home     string
	log      string // the log: all that matters
	views    string // folder; what is in it can be deleted
	index    string // folder, below views
	vectors  string // file, below views
	forget   string // what is being forgotten: positions, never words
	watch    string // how far transcripts were read
	token    string
	run      string // folder
	daemon   string // what the running daemon wrote down
	runs     string // folder of what claude-cli runs
	socket   string
	logs     string // folder
	logFile  string // of the daemon
	startLog string // what a daemon says before its own log file is open
}

func pathsOf(home string) paths {
	in := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	return paths{
		home: home, log: in("log.db"), views: in("views"), index: in("views", "index"), vectors: in("views", "vectors"), forget: in("forget.json"), watch: in("watch.json"), token: in("token"),
		run: in("run"), daemon: in("run", "daemon.json"), runs: in("run", "claude-cli"), socket: relay.SocketPath(home),
		logs: in("logs"), logFile: in("logs", "cmemd.log"), startLog: in("logs", "start.log"),
	}
}

// make makes the folders of a home, open to this user only. It returns errOpenToOthers where others could change that.
func (p paths) make() error {
	for _, dir := range []string{p.home, p.run, p.views, p.logs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return terminal.Advise(err, "let CMEMD_HOME name a folder that this user may write to")
		}
	}
	if err := os.Chmod(p.home, 0o700); err != nil { // it may have been there before, open to others
		return terminal.Advise(err, "CMEMD_HOME must be this user's own folder")
	}
	return checkParents(p.home)
}

// tokenBytes is how long the token of the loopback address is: nobody guesses 256 bits.
const tokenBytes = 32

// loadToken returns the token that the file at path holds, and makes one where there is none.
func loadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	switch {
	case err == nil && len(token) < tokenBytes:
		return "", terminal.Advise(fmt.Errorf("%s holds no token of at least %d characters", path, tokenBytes), "delete it; the daemon makes another")
	case err == nil:
		return token, os.Chmod(path, 0o600)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return makeToken(path)
}

// makeToken puts a new token into the file at path.
func makeToken(path string) (string, error) {
	secret := make([]byte, tokenBytes)
	_, _ = rand.Read(secret) // never fails
	token := hex.EncodeToString(secret)
	return token, durable.Replace(path, []byte(token+"\n"), ownFile)
}

// ownFile is the mode of what nobody but this user may read.
const ownFile fs.FileMode = 0o600
