package person

import (
	"bytes"
	"os"
	"syscall"
	"unsafe"
)

// openTerminal makes a pseudo-terminal.
func openTerminal() (master, terminal *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0); err != nil {
		return nil, nil, err
	}
	var name [128]byte
	for _, request := range []struct {
		what uintptr
		at   unsafe.Pointer
	}{{syscall.TIOCPTYGRANT, nil}, {syscall.TIOCPTYUNLK, nil}, {syscall.TIOCPTYGNAME, unsafe.Pointer(&name)}} {
		if _, _, failed := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request.what, uintptr(request.at)); failed != 0 {
			return nil, nil, failed
		}
	}
	path, _, _ := bytes.Cut(name[:], []byte{0})
	terminal, err = os.OpenFile(string(path), os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	return master, terminal, err
}

// onTerminal starts a session on the terminal that is a file of the process.
func onTerminal(file int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: file}
}

// keep has no command inherit one of this process's files: a daemon that it starts would hold it open.
func keep(fd int) { syscall.CloseOnExec(fd) }
