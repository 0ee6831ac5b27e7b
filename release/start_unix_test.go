//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"testing"
)

// startGroup starts a command and kills it, with all that it started, at the end of the test. To kill the command alone is not enough:
// neither a shim in Node nor unshare takes a program of another user with it.
func startGroup(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
}
