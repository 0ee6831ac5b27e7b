package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cmemd/cmemd/cmd/cmemd/internal/terminal"
)

// FindHub is the path of Hub, beside this program or on PATH. Its error says how to get it.
func FindHub() (string, error) {
	self, err := os.Executable()
	if err == nil {
		path := Path(filepath.Dir(self), Hub, Ext(self))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := exec.LookPath(Hub)
	if err != nil {
		err = fmt.Errorf("%s, the program that keeps what machines share, is neither beside cmemd nor on PATH", Hub)
		return "", terminal.Advise(err, hubAdvice)
	}
	return path, nil
}

// hubStopTimeout is how long stores may take to end in order.
const hubStopTimeout = 15 * time.Second

// HubCommand is the program at path, which FindHub found: it is asked to end when ctx is done, and ends when this process does, however
// that ends.
func HubCommand(ctx context.Context, path string, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, path, append(args, "--until-stdin-ends")...)
	if _, err := cmd.StdinPipe(); err != nil { // Wait closes it
		return nil, err
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = hubStopTimeout
	return cmd, nil
}

const hubAdvice = "it is a package of its own of the same release as cmemd: `sh install.sh --hub`, or a deb, rpm, npm package " +
	"or archive of https://github.com/cmemd/cmemd/releases (docs/install.md). A folder that your machines share needs none: `cmemd join FOLDER`"
