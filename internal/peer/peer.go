package peer

import (
	"net"
	"os"
)

// Peer is what is known of the process at the other end of a connection. The zero Peer is one of which nothing is known.
type Peer struct {
	Person    bool     // a person's command, as the package says it
	Folder    string   // that it works in; empty: not known
	Own       bool     // it runs the executable that this process runs
	Arguments []string // behind its program's name; nil: not known
	Stranger  bool     // another user's, neither root's nor of who runs this process; false where the system does not tell
}

// Advice says to a person whose command counts as an agent's what they can do. known is as Known is.
func Advice(known bool) string {
	if known {
		return "run it in your own terminal, outside of an agent's or an editor's"
	}
	return "this system does not tell your commands from an agent's, so nobody can do it here: run cmemd on Linux (in WSL, say) or macOS"
}

// Of returns what is known of the other end of conn, where agents are known by what agents says; of a loopback address's, only whether
// another user is there. It reads some files of the system, or asks it, for each process above the peer: a fifth of a millisecond, in all.
// It is safe for concurrent use.
func Of(conn net.Conn, agents Agents) Peer {
	if conn.RemoteAddr().Network() == "tcp" {
		uid, ok := userOf(conn)
		return Peer{Stranger: ok && uid != 0 && uid != os.Getuid()}
	}
	pid, uid, err := otherEnd(conn)
	if err != nil || uid != os.Getuid() {
		return Peer{}
	}
	p, err := read(pid)
	if err != nil {
		return Peer{}
	}
	return Peer{
		Person: personal(p, read, agents),
		Folder: folderOf(pid), Own: runsOwn(p), Arguments: p.arguments,
	}
}
