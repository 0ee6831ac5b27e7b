package peer

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"testing"
)

// TestUserIn: the line of the other end's socket counts, in either form of its address, while it is open.
func TestUserIn(t *testing.T) {
	t.Parallel()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the table is of a machine that has the lowest byte first")
	}
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:B357 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 77 2 0000000047e67ca9 100 0 0 10 0
   1: 0100007F:B357 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 78 1 0 20 4 30 10 -1
   2: 0100007F:C001 0100007F:B357 01 00000000:00000000 00:00000000 00000000  1001        0 79 1 0 20 4 30 10 -1
   3: 0100007F:C002 0100007F:B357 04 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
   4: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:B357 01 00000000:00000000 00:00000000 00000000  1002 0 80 1 0
   5: 00000000000000000000000001000000:C004 00000000000000000000000001000000:B357 01 00000000:00000000 00:00000000 00000000  1003 0 81 1 0
   6: 0100007F:C005 0100007F:B357 01 short
   7: 0100007:C006 0100007F:B357 01 00000000:00000000 00:00000000 00000000  1001        0 79 1 0 20 4 30 10 -1
`
	const missing = -2
	for from, want := range map[string]int{
		"127.0.0.1:49153": 1001, "127.0.0.1:49154": nobody, "127.0.0.1:49155": 1002, "[::ffff:127.0.0.1]:49153": 1001, "127.0.0.1:49157": missing,
		"127.0.0.1:49158": missing, "127.0.0.2:49153": missing, "127.0.0.1:1": missing,
	} {
		uid, ok := userIn(table, netip.MustParseAddrPort(from), netip.MustParseAddrPort("127.0.0.1:45911"))
		if ok != (want != missing) || ok && uid != want {
			t.Errorf("%s: got %d, %t, want %d", from, uid, ok, want)
		}
	}
	if uid, ok := userIn(table, netip.MustParseAddrPort("[::1]:49156"), netip.MustParseAddrPort("[::1]:45911")); !ok || uid != 1003 {
		t.Errorf("version 6: got %d, %t", uid, ok)
	}
}

// TestUserOf: over a real loopback connection the other end is this user's, who is no stranger.
func TestUserOf(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asking, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer asking.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if uid, ok := userOf(conn); !ok || uid != os.Getuid() {
		t.Errorf("got %d, %t", uid, ok)
	}
	if p := Of(conn, Agents{}); p.Stranger || p.Person {
		t.Errorf("got %+v", p)
	}
	asking.Close()
	if p := Of(conn, Agents{}); !p.Stranger {
		t.Errorf("of one that closed: got %+v, want somebody who may be anybody", p)
	}
}
