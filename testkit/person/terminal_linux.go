package person

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal.
func openTerminal() (master, terminal *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return nil, nil, err
	}
	if err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	return master, terminal, err
}

// onTerminal starts a session on the terminal that is a file of the process.
func onTerminal(file int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: file}
}

// keep has no command inherit one of this process's files: a daemon that it starts would hold it open.
func keep(fd int) { syscall.CloseOnExec(fd) }
