package share

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
)

// Status is how the machines of a space are, as far as this one knows.
type Status struct {
	Space    space.ID  `json:"space"`
	Own      Shipping  `json:"own"`
	Machines []Machine `json:"machines"` // all that are in the space, this one, and those that are not any more and have a log here
	Forgets  []Forget  `json:"forgets"`  // that not everybody confirmed, the oldest first
	Problems []string  `json:"problems"` // what is not well, in words
}

// Shipping is how far the own log is in the store.
type Shipping struct {
	Log      events.LogID    `json:"log"`
	Last     events.Position `json:"last"`    // of the log
	Shipped  events.Position `json:"shipped"` // of what the store has
	Records  uint64          `json:"records"` // that the store has not
	Seconds  float64         `json:"seconds"` // since the first of those was recorded
	Withheld int             `json:"withheld,omitempty"`
	Forked   events.Position `json:"forked,omitempty"` // the first record that another home may have written; 0: none
	Branch   *Branch         `json:"branch,omitempty"` // nil: the log is known by its first name
}

// Branch says that this home was copied, restored from a backup or salvaged, and goes on as a log of its own.
type Branch struct {
	At      time.Time       `json:"at"`                // when that was found
	From    events.Position `json:"from"`              // the first record that is this home's alone
	Machine string          `json:"machine,omitempty"` // the machine that this home was; empty: it still is
	Absent  bool            `json:"absent,omitempty"`  // that machine was not seen since, and is in the space
}

// Machine is one machine.
type Machine struct {
	ID      space.MemberID `json:"id"`
	Name    string         `json:"name"`
	Self    bool           `json:"self,omitempty"`
	Gone    time.Time      `json:"gone,omitzero"` // since when it is not in the space
	Revoked bool           `json:"revoked,omitempty"`
	Seen    time.Time      `json:"seen,omitzero"`     // when it last wrote anything, by its clock
	Read    uint64         `json:"read,omitempty"`    // records of the own log that it has
	Unread  uint64         `json:"unread,omitempty"`  // records of the own log in the store that it has not
	Waiting []string       `json:"waiting,omitempty"` // what it did not confirm to have forgotten
	Logs    []Copied       `json:"logs,omitempty"`    // its logs
	Differs bool           `json:"differs,omitempty"` // it knows another list of machines
}

// Copied is a log of another machine, here.
type Copied struct {
	Log     events.LogID    `json:"log"`
	Last    events.Position `json:"last"`    // that the store has
	Here    events.Position `json:"here"`    // that is here, and has its place among the records of all logs
	Records uint64          `json:"records"` // behind that
	Seconds float64         `json:"seconds"` // since the first of those was seen to be there; 0 where all of them wait here for what they name
	Problem string          `json:"problem,omitempty"`
}

// Forget is a request to forget.
type Forget struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	By      string    `json:"by"`      // the machine that asked
	Here    bool      `json:"here"`    // the words are gone here
	Store   bool      `json:"store"`   // and in the store, as far as it is this machine's to see to
	Waiting []string  `json:"waiting"` // the machines that did not confirm
}

// Status says how all is. Beside two looks at the own log it reads nothing.
func (s *Share) Status(ctx context.Context) (Status, error) {
	last, err := s.cfg.Own.Last(ctx)
	if err != nil {
		return Status{}, err
	}
	st := Status{Space: s.space.ID(), Problems: s.problems.all()}
	m := s.space.Manifest()
	shown := map[events.LogID]events.Position{}
	for _, c := range s.cfg.Copies.Copies() {
		shown[s.storeLog(c.Log)] = c.Shown
	}
	s.mu.Lock()
	st.Own = s.shippingStatus(last)
	for _, machine := range m.Machines() {
		if one := s.machine(m, machine, shown); machine.Current() || one.Self || len(one.Logs) > 0 {
			st.Machines = append(st.Machines, one)
		}
	}
	st.Forgets = s.forgets(m)
	s.mu.Unlock()
	if st.Own.Records > 0 {
		r, err := s.cfg.Own.Get(ctx, st.Own.Shipped+1)
		if err != nil {
			return Status{}, err
		}
		st.Own.Seconds = s.cfg.Now().Sub(r.RecordedAt).Seconds()
	}
	return st, nil
}

// shippingStatus needs mu.
func (s *Share) shippingStatus(last events.Position) Shipping {
	own := Shipping{Log: s.own, Last: last, Shipped: s.feeds[s.own].Last, Withheld: s.feeds[s.own].Withheld}
	own.Records = uint64(last - min(last, own.Shipped))
	own.Branch = s.branchStatus()
	if s.forked != nil {
		own.Forked = s.forked.At
	}
	return own
}

// machine needs mu. shown is how far readers see each log.
func (s *Share) machine(m space.Manifest, of space.Machine, shown map[events.LogID]events.Position) Machine {
	r := s.reports[of.ID]
	one := Machine{ID: of.ID, Name: of.Name, Self: of.ID == s.space.Self(), Gone: of.Gone, Revoked: of.Revoked, Seen: r.At}
	one.Differs = r.Manifest == m.Number && r.Hash != m.Hash
	for log, h := range s.heads {
		if h.Machine != of.ID || log == s.own {
			continue
		}
		one.Logs = append(one.Logs, s.copied(h, shown[log]))
		if h.At.After(one.Seen) {
			one.Seen = h.At
		}
	}
	slices.SortFunc(one.Logs, func(a, b Copied) int { return slices.Compare(a.Log[:], b.Log[:]) })
	if one.Self || !of.Current() {
		return one
	}
	for _, c := range r.Copies {
		if c.Log == s.own {
			one.Read = uint64(c.Last)
		}
	}
	shipped := uint64(s.feeds[s.own].Last)
	one.Unread = shipped - min(shipped, one.Read)
	for id := range s.notes {
		if !r.confirms(id) {
			one.Waiting = append(one.Waiting, id.String())
		}
	}
	slices.Sort(one.Waiting)
	return one
}

// copied needs mu.
func (s *Share) copied(h head, shown events.Position) Copied {
	read := s.feeds[h.Log].Last
	c := Copied{Log: h.Log, Last: max(h.Last, read), Here: min(read, shown), Problem: s.problems.of(s.problemKey(s.keys.head(h.Log)))}
	c.Records = uint64(c.Last - c.Here)
	if since, ok := s.behind[h.Log]; ok && c.Records > 0 {
		c.Seconds = s.cfg.Now().Sub(since).Seconds()
	}
	return c
}

// forgets needs mu.
func (s *Share) forgets(m space.Manifest) (all []Forget) {
	for id, n := range s.notes {
		f := Forget{ID: id.String(), At: n.At, By: n.By, Here: n.Done, Store: n.Cleaned}
		for _, machine := range m.Machines() {
			if machine.ID.String() == n.By {
				f.By = machine.Name
			}
			if machine.Current() && machine.ID != s.space.Self() && !s.reports[machine.ID].confirms(id) {
				f.Waiting = append(f.Waiting, machine.Name)
			}
		}
		if !f.Here || !f.Store || len(f.Waiting) > 0 {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b Forget) int { return strings.Compare(a.ID, b.ID) })
	return all
}
