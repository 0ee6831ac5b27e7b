package peer

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Known is whether the system says what is at the other end of a connection. Without that every command counts as an agent's.
const Known = true

// read asks the system about a process.
func read(pid int) (process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return process{}, err
	}
	name, _, _ := bytes.Cut(info.Proc.P_comm[:], []byte{0})
	p := process{
		pid: pid, parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid), terminal: info.Eproc.Tdev != -1,
		foreground: int(info.Eproc.Tpgid), names: []string{string(name)},
	}
	if p.session, err = unix.Getsid(pid); err != nil {
		return process{}, err
	}
	if raw, err := unix.SysctlRaw("kern.procargs2", pid); err == nil { // of another user's it is not shown
		p.program, p.names, p.arguments, p.variables = withArguments(p.names, raw)
	}
	return p, nil
}

// withArguments reads the number of arguments, the executable's path, zeros, the arguments, and the variables behind them.
func withArguments(names []string, raw []byte) (program string, called, arguments, variables []string) {
	if len(raw) < 4 {
		return "", names, nil, nil
	}
	n := int(binary.LittleEndian.Uint32(raw))
	path, rest, _ := strings.Cut(string(raw[4:]), "\x00")
	args := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	n = max(0, min(n, len(args)))
	variables = namesOf(args[n:])
	if args = args[:n]; len(args) == 0 {
		return path, names, nil, variables
	}
	return path, append(names, args[0]), args[1:], variables
}

// folderOf is the folder that a process works in: here it is not known.
func folderOf(int) string { return "" }

// runsOwn reports whether a process runs the executable that this one runs.
func runsOwn(p process) bool {
	path, err := os.Executable()
	if err != nil {
		return false
	}
	own, err := os.Stat(path)
	if err != nil {
		return false
	}
	theirs, err := os.Stat(p.program)
	return err == nil && os.SameFile(own, theirs)
}
