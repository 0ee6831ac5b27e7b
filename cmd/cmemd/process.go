package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cmemd/cmemd/internal/durable"
	"github.com/cmemd/cmemd/internal/process"
)

// A daemonFile is what a running daemon writes down of itself in run/daemon.json. Its hooks read the socket; commands
// read the process, and believe it only while Lives.
type daemonFile struct {
	PID       int    `json:"pid"`
	StartTime string `json:"start_time"` // of the process, as the system counts it
	BootID    string `json:"boot_id"`    // of the machine's present boot
	Addr      string `json:"addr"`       // of the loopback address; empty: none
	Socket    string `json:"socket"`
	Version   string `json:"version"`
}

// maxDaemonFile bounds the file: it is a few hundred bytes.
const maxDaemonFile = 64 << 10

// thisProcess describes this process, without what it serves.
func thisProcess() daemonFile {
	pid := os.Getpid()
	start, _ := process.StartTime(pid) // unknown: nobody signals it then
	return daemonFile{PID: pid, StartTime: start, BootID: process.BootID()}
}

// readDaemonFile returns what a daemon wrote down; errors are the file's, fs.ErrNotExist among them.
func readDaemonFile(path string) (daemonFile, error) {
	var d daemonFile
	info, err := os.Stat(path)
	if err != nil {
		return d, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxDaemonFile {
		return d, fmt.Errorf("%s is not what a daemon writes", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return daemonFile{}, fmt.Errorf("%s is not what a daemon writes: %w", path, err)
	}
	return d, nil
}

func (d daemonFile) write(path string) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return durable.Replace(path, append(b, '\n'), ownFile)
}

// lives reports whether the process that wrote d still runs: the same number, started at the same instant of the same
// boot. What cannot be told is no.
func (d daemonFile) lives() bool {
	return process.Lives(d.PID, d.StartTime, d.BootID)
}

// signal sends s to the process of d if that still is the one that wrote it.
func (d daemonFile) signal(s os.Signal) error {
	if !d.lives() {
		return os.ErrProcessDone
	}
	p, err := os.FindProcess(d.PID)
	if err != nil {
		return err
	}
	return errors.Join(p.Signal(s), p.Release())
}
