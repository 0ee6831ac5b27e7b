package peer

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// userOf is the user whose socket is at the other end of a loopback connection, as the system's tables say; nobody where it is closed on that
// side. ok is false where they do not have it: it is another network namespace's.
func userOf(conn net.Conn) (uid int, ok bool) {
	from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return 0, false
	}
	to, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return 0, false
	}
	const v4, v6 = "/proc/net/tcp", "/proc/net/tcp6"
	for _, table := range []string{v4, v6, v4, v6} { // twice: one that is being closed may be on its way from one place in a table to another
		text, _ := os.ReadFile(table)
		if uid, ok := userIn(string(text), from, to); ok {
			return uid, true
		}
	}
	return 0, false
}

// nobody is no user's number.
const nobody = -1

// userIn looks a socket up in a table whose lines are "number local remote state queues timer retransmits uid timeout inode ...". One
// without an inode was closed, and is nobody's: who closes before the answer hides whose it was.
func userIn(table string, local, remote netip.AddrPort) (uid int, ok bool) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 10 || addressIn(f[1]) != plainAddress(local) || addressIn(f[2]) != plainAddress(remote) {
			continue
		}
		if f[9] == "0" {
			return nobody, true
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// addressIn reads "0100007F:B357": words of four bytes in this machine's order, and the port. The zero one: it is none.
func addressIn(field string) netip.AddrPort {
	words, port, _ := strings.Cut(field, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	var b []byte
	for ; err == nil && len(words) >= 8; words = words[8:] {
		var word uint64
		word, err = strconv.ParseUint(words[:8], 16, 32)
		b = binary.NativeEndian.AppendUint32(b, uint32(word))
	}
	addr, ok := netip.AddrFromSlice(b)
	if err != nil || !ok || words != "" {
		return netip.AddrPort{}
	}
	return plainAddress(netip.AddrPortFrom(addr, uint16(n)))
}

// plainAddress is an address of version 4 as such, in whatever form it came.
func plainAddress(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
