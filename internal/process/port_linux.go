package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listener names the process of this machine that listens at a TCP port, as far as this user may see it; 0 and "" otherwise.
func Listener(port int) (pid int, command string) {
	var sockets []string
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, _ := os.ReadFile(name) // there may be no IPv6
		sockets = append(sockets, listening(table, port)...)
	}
	if len(sockets) == 0 {
		return 0, ""
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*") // those of other users are not listed
	for _, file := range files {
		target, err := os.Readlink(file)
		if err != nil || !slices.Contains(sockets, target) {
			continue
		}
		dir := filepath.Dir(filepath.Dir(file))
		if pid, err = strconv.Atoi(filepath.Base(dir)); err == nil {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			program, _, _ := bytes.Cut(line, []byte{0})
			return pid, filepath.Base(string(program))
		}
	}
	return 0, ""
}

// listening finds in the text of /proc/net/tcp the sockets that listen at a port, as a link to one reads.
func listening(table []byte, port int) (sockets []string) {
	const listens = "0A"
	for line := range bytes.Lines(table) {
		// 0: 0100007F:9415 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 27482 ...
		f := strings.Fields(string(line))
		if len(f) < 10 || f[3] != listens {
			continue
		}
		_, at, _ := strings.Cut(f[1], ":")
		if n, err := strconv.ParseUint(at, 16, 16); err == nil && int(n) == port {
			sockets = append(sockets, "socket:["+f[9]+"]")
		}
	}
	return sockets
}
