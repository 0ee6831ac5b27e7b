package api

import (
	"time"

	"github.com/cmemd/cmemd/eventlog/share"
	"github.com/cmemd/cmemd/events"
)

// The routes of the machines that share one memory.
var (
	ClusterRoute       = Route[NoQuery, Cluster]{get, "/v1/cluster", ScopeView, "the machines that share memory, and how far each is"}
	ClusterJoinRoute   = Work[ClusterJoin, ClusterJoined]{post, "/v1/cluster/join", ScopePerson, "makes a space for machines in a store, or enters one"}
	ClusterInviteRoute = Work[ClusterInvite, ClusterInvitation]{post, "/v1/cluster/invite", ScopePerson, "makes a code that lets one machine in"}
	ClusterLeaveRoute  = Work[ClusterLeave, ClusterLeft]{post, "/v1/cluster/leave", ScopePerson, "takes this machine out"}
	ClusterRevokeRoute = Work[ClusterRevoke, ClusterRevoked]{post, "/v1/cluster/devices/{name}/revoke", ScopePerson, "takes another machine out"}
	ClusterFlushRoute  = Work[NoQuery, ClusterFlushed]{post, "/v1/cluster/flush", ScopeOwn, "waits until all that is recorded here is in the store"}
	ClusterVerifyRoute = Work[NoQuery, ClusterVerified]{get, "/v1/cluster/verify", ScopeView, "checks all that the store holds, and the copies here"}
)

// Cluster is the machines that share memory with this one, as far as it knows.
type Cluster struct {
	Joined bool           `json:"joined"`           // false: this machine shares its memory with no other
	Where  string         `json:"where,omitempty"`  // the store, without what lets a machine in
	Status *ClusterStatus `json:"status,omitempty"` // nil unless Joined, and where Problem says why it cannot be told
	// Problem is why nothing is shared though this machine has joined, in words; empty: it is.
	Problem string `json:"problem,omitempty"`
}

// ClusterStatus is how the machines are.
type ClusterStatus share.Status

// ClusterJoin says what to join, and as what.
type ClusterJoin struct {
	Where string `json:"where,omitempty"` // a folder's absolute path, or nats:// and where; empty: the code says it
	Code  string `json:"code,omitempty"`  // of an invitation, or of recovery; empty: a space is made
	Name  string `json:"name,omitempty"`  // of this machine; empty: its host name
	New   bool   `json:"new,omitempty"`   // a space is made also where the store has another one
}

// ClusterJoined says what was joined. The codes are nowhere else.
type ClusterJoined struct {
	Name     string `json:"name"`
	Where    string `json:"where"`
	Machines int    `json:"machines"` // that are in the space now

	// Of a space that was made: the code by which it is opened where all its machines are lost, and one for the next machine.
	Recovery   string             `json:"recovery,omitempty"`
	Invitation *ClusterInvitation `json:"invitation,omitempty"`

	// Problem is why nothing is carried though the space is made, in words; empty: it is.
	Problem string `json:"problem,omitempty"`
}

// ClusterInvite asks for a code.
type ClusterInvite struct {
	For string `json:"for,omitempty"` // what the person calls the machine that is to enter
}

// ClusterInvitation lets one machine in, once.
type ClusterInvitation struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
	Where   string    `json:"where"` // the store that the code leads to
}

// ClusterLeave takes this machine out.
type ClusterLeave struct {
	Force bool `json:"force,omitempty"` // even if the store cannot be reached
}

// ClusterLeft says that this machine shares its memory no more. The copies of others' logs go as the daemon starts the next time.
type ClusterLeft struct {
	Notified bool  `json:"notified"` // the others know it
	Removed  int   `json:"copies"`
	Bytes    int64 `json:"bytes"` // of those
}

// ClusterRevoke names a machine by its name, or by its id or the beginning of it.
type ClusterRevoke struct {
	Name string `path:"name" json:"-"`
}

// AnyProject is as that of IDQuery.
func (ClusterRevoke) AnyProject() bool { return true }

// ClusterRevoked says who was taken out.
type ClusterRevoked struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// ClusterFlushed says how far this machine's log is in the store.
type ClusterFlushed struct {
	Position events.Position `json:"position"` // of the log, that is there
}

// ClusterVerified is what came of checking all that the store holds.
type ClusterVerified struct {
	OK       bool                `json:"ok"`
	Logs     []share.VerifiedLog `json:"logs"`
	Problems []string            `json:"problems,omitempty"` // of the list of machines and of what machines say of each other
}

// Elsewhere says where else something is forgotten.
type Elsewhere struct {
	Store   bool             `json:"store"`             // what the store holds was sealed anew without it
	Gone    []string         `json:"gone,omitempty"`    // names of the machines that confirmed it
	Waiting []ClusterWaiting `json:"waiting,omitempty"` // those that did not
}

// ClusterWaiting is a machine that did not confirm.
type ClusterWaiting struct {
	Name string    `json:"name"`
	Seen time.Time `json:"seen,omitzero"` // when it last wrote anything, by its own clock
}
