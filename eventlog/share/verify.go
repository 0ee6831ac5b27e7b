package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cmemd/cmemd/eventlog"
	"github.com/cmemd/cmemd/eventlog/share/space"
	"github.com/cmemd/cmemd/events"
)

// VerifiedLog is what came of checking one log in the store.
type VerifiedLog struct {
	Log      events.LogID    `json:"log"`
	Machine  string          `json:"machine"`
	Own      bool            `json:"own,omitempty"`
	Last     events.Position `json:"last"`    // up to which it is believed, or was shipped
	Checked  events.Position `json:"checked"` // up to which it is well
	Segments int             `json:"segments"`
	Problem  string          `json:"problem,omitempty"` // in words; empty: all of it is well
}

// Verify reads all logs in the store again, each as far as it was read or shipped: that each segment is there, is signed by the
// machine that the log is of, continues the one before, and ends at the link that is known here. What is not well is no error. progress
// is given how many records were looked at. It returns what reading the own log did, and ctx.Err().
func (s *Share) Verify(ctx context.Context, progress func(done, total uint64)) (all []VerifiedLog, err error) {
	s.mu.Lock()
	read, own := maps.Clone(s.feeds), s.own
	s.mu.Unlock()
	var done, total uint64
	for _, f := range read {
		total += uint64(f.Last)
	}
	logs := slices.SortedFunc(maps.Keys(read), func(a, b events.LogID) int { return slices.Compare(a[:], b[:]) })
	for _, log := range logs {
		v := VerifiedLog{Log: log, Own: log == own, Last: read[log].Last}
		before := done
		problem := s.verifyLog(ctx, &v, read[log], func(at events.Position) { progress(before+uint64(at), total) })
		if err := ctx.Err(); err != nil {
			return all, err
		}
		if problem != nil {
			v.Problem = problem.Error()
		}
		done += uint64(v.Last)
		progress(done, total)
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b VerifiedLog) int { return cmp.Compare(a.Machine, b.Machine) })
	return all, nil
}

// verifyLog checks one log, and returns what is wrong with it.
func (s *Share) verifyLog(ctx context.Context, v *VerifiedLog, f feed, progress func(events.Position)) error {
	read := feed{Machine: f.Machine}
	if v.Own {
		read.Machine = s.space.Self()
	}
	v.Machine = s.nameOf(read.Machine)
	var places []place
	for v.Checked < f.Last {
		p, err := s.following(ctx, v.Log, v.Checked+1, &places)
		if err != nil {
			return fmt.Errorf("record %d: %w", v.Checked+1, err)
		}
		if _, _, err := s.takeSegment(ctx, v.Log, &read, p); err != nil {
			return err
		}
		v.Checked = read.Last
		v.Segments++
		progress(v.Checked)
	}
	if v.Checked == f.Last && read.Link != f.Link && f.Last > 0 {
		return errors.New("share: its end is not the one that was read before")
	}
	if !v.Own || f.Last == 0 {
		return nil
	}
	ours, err := linkAt(ctx, s.cfg.Own, feed{}, v.Checked)
	if errors.Is(err, eventlog.ErrNotFound) || err == nil && ours != read.Link {
		return errors.New("share: it is not this machine's log")
	}
	return err
}

// Writer is what the machine is called that writes another log, by its name here; empty where that is not known.
func (s *Share) Writer(log events.LogID) string {
	log = s.storeLog(log)
	s.mu.Lock()
	h, ok := s.heads[log]
	writer := h.Machine
	if !ok {
		var f feed
		f, ok = s.feeds[log]
		writer = f.Machine
	}
	s.mu.Unlock()
	if !ok {
		return ""
	}
	return s.nameOf(writer)
}

// nameOf is what a machine is called.
func (s *Share) nameOf(id space.MemberID) string {
	if m, ok := s.space.Manifest().Machine(id); ok {
		return m.Name
	}
	return id.String()
}
