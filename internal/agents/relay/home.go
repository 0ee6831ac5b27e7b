package relay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/jsonscan"
	"github.com/cmemd/cmemd/internal/owned"
)

// maxSocketPath is how long a unix socket's path may be, in bytes: the kernels take 104 (macOS) or 108 (Linux) with
// the closing zero; the rest is a margin.
const maxSocketPath = 100

// Home returns the folder that holds all of cmemd's files, as an absolute path: $CMEMD_HOME, else $XDG_DATA_HOME/cmemd,
// else ~/.local/share/cmemd. Like the XDG rules have it, a relative XDG_DATA_HOME counts as none. It makes nothing.
// It returns an error that wraps ErrNoHome where the person's home folder is unknown or relative: what it names would depend on the folder
// that somebody is in. Else it fails only if the working folder of a relative CMEMD_HOME is unknown.
func Home(getenv func(string) string) (string, error) {
	if home := getenv("CMEMD_HOME"); home != "" {
		return filepath.Abs(home)
	}
	if data := getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "cmemd"), nil
	}
	user, err := UserHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(user, ".local", "share", "cmemd"), nil
}

// ErrNoHome is wrapped in the errors of UserHome.
var ErrNoHome = errors.New("relay: no home folder")

// UserHome is the person's own folder, as an absolute path, or an error that wraps ErrNoHome.
func UserHome() (string, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoHome, err)
	}
	if !filepath.IsAbs(user) {
		return "", fmt.Errorf("%w: %s names %q, which is not absolute", ErrNoHome, userHomeVariable(), user)
	}
	return user, nil
}

// SocketPath returns where the daemon of a home listens and its hooks call: home/run/cmemd.sock, or, where that is
// longer than a socket's path may be, a name derived from home in $XDG_RUNTIME_DIR, else in a folder of this user in
// the temporary folder. It makes nothing; the daemon makes the folder with MakeSocketDir.
func SocketPath(home string) string {
	home = filepath.Clean(home)
	path := filepath.Join(home, "run", "cmemd.sock")
	if len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(home))
	name := hex.EncodeToString(sum[:8]) + ".sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if path = filepath.Join(dir, "cmemd-"+name); len(path) <= maxSocketPath {
			return path
		}
	}
	return filepath.Join(os.TempDir(), "cmemd-"+strconv.Itoa(os.Getuid()), name)
}

// ErrSocketDir is returned for a socket whose folder others may write to: what is sent there may be read by them.
var ErrSocketDir = errors.New("relay: the socket's folder is not this user's alone")

// ErrHome is returned for a home that is not this user's, or that others could put another one in the place of.
var ErrHome = errors.New("relay: the home is not this user's alone")

// MakeSocketDir makes the folder of a socket, open to this user only, and returns an error wrapping ErrSocketDir if
// what is there belongs to another user or may be written by one.
func MakeSocketDir(socket string) error {
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("relay: make the socket's folder: %w", err)
	}
	return checkSocketDir(socket)
}

// checkSocketDir refuses a socket in a folder that is not this user's, or on the way to which others may write.
func checkSocketDir(socket string) error { return checkOwned(filepath.Dir(socket), ErrSocketDir) }

// checkHome refuses a home in which a daemon would not start. One that is not there yet passes where nobody else may write to the folder in
// which it would be made.
func checkHome(home string) error {
	err := checkOwned(home, ErrHome)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = owned.Parents(home)
		err = refuse(err, ErrHome)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkOwned returns an error that wraps refused if a folder is not this user's, or others may write to it or to one above it.
func checkOwned(dir string, refused error) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	err = owned.Folder(real)
	if err == nil {
		_, err = owned.Parents(dir)
	}
	return refuse(err, refused)
}

// refuse wraps refused around err where that says that others may write somewhere.
func refuse(err, refused error) error {
	if errors.Is(err, owned.ErrOthers) {
		return fmt.Errorf("%w: %w", refused, err)
	}
	return err
}

// Advertised is what a running daemon wrote of itself into home/run/daemon.json; what it does not say is empty. The socket differs
// from SocketPath where the daemon runs with another runtime or temporary folder than the agent.
func Advertised(home string) (socket string, pid int) {
	data, err := durable.ReadBounded(filepath.Join(home, "run", "daemon.json"), maxSmallFile)
	if err != nil {
		return "", 0
	}
	jsonscan.Scalars(data, func(name string, value []byte) bool {
		switch {
		case name == "socket" && value[0] == '"':
			socket = jsonscan.Unquote(value)
		case name == "pid":
			pid = max(jsonscan.WholeNumber(value), 0)
		}
		return true
	})
	if !filepath.IsAbs(socket) {
		socket = ""
	}
	return socket, pid
}
