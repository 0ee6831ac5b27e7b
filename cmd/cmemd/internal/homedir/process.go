package homedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/process"
)

// A DaemonFile is what a running daemon writes down of itself in run/daemon.json. Its hooks read the socket; commands
// read the process, and believe it only while Lives.
type DaemonFile struct {
	process.Identity
	Addr    string `json:"addr"` // of the loopback address; empty: none
	Socket  string `json:"socket"`
	Version string `json:"version"`

	// Program is when the file of the program that runs was put where it is; zero: unknown, or of a release that did not write it down.
	Program time.Time `json:"program,omitzero"`

	// File names that file by its place on its disk and its last writing; empty: as Program. A name more, a right less and a backup change
	// Program, and not File.
	File string `json:"file,omitempty"`
}

// maxDaemonFile bounds the file: it is a few hundred bytes.
const maxDaemonFile = 64 << 10

// ThisProcess describes this process, without what it serves.
func ThisProcess() DaemonFile {
	put, file := thisProgram()
	return DaemonFile{Identity: process.Identify(os.Getpid()), Program: put, File: file}
}

// thisProgram is when the program that this process runs was put where it is, and what names its file; zero and empty where that is
// unknown.
func thisProgram() (put time.Time, file string) {
	self, err := os.Executable()
	if err != nil {
		return time.Time{}, ""
	}
	put, file, _ = programFile(self)
	return put, file
}

// OlderThan reports whether a daemon is to make room for the one of this process, which is of a version. Their versions decide where
// they can be compared; else a program in another file that was put where it is before this one is the older.
func (d DaemonFile) OlderThan(version string) bool {
	put, file := thisProgram()
	return d.olderThan(version, put, file)
}

func (d DaemonFile) olderThan(version string, program time.Time, file string) bool {
	if order, ok := terminal.CompareVersions(version, d.Version); ok {
		return order > 0
	}
	return program.After(d.Program) && (file == "" || file != d.File)
}

// ReadDaemonFile returns what a daemon wrote down; errors are the file's, fs.ErrNotExist among them.
func ReadDaemonFile(path string) (DaemonFile, error) {
	b, err := durable.ReadLinked(path, maxDaemonFile)
	var d DaemonFile
	switch {
	case err == nil:
		err = json.Unmarshal(b, &d)
	case !errors.Is(err, durable.ErrIrregular) && !errors.Is(err, durable.ErrTooLong):
		return DaemonFile{}, err
	}
	if err != nil {
		return DaemonFile{}, fmt.Errorf("%s is not what a daemon writes: %w", path, err)
	}
	return d, nil
}

func (d DaemonFile) Write(path string) error {
	return writeNote(path, d, durable.Replace)
}

// Signal sends s to the process of d if that still is the one that wrote it.
func (d DaemonFile) Signal(s os.Signal) error {
	if !d.Lives() {
		return os.ErrProcessDone
	}
	p, err := os.FindProcess(d.PID)
	if err != nil {
		return err
	}
	return errors.Join(p.Signal(s), p.Release())
}
