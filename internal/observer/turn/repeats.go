package turn

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/cmemd/cmemd/actors/session"
	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/internal/observer"
	"github.com/cmemd/cmemd/internal/observer/evidence"
)

const (
	// rememberedInputs is how many of a session's inputs before a turn are looked at for what the turn repeats: agents read again
	// what fell out of their context, and that is rarely more than this far back.
	rememberedInputs = 200

	// sizeTolerance is by how many bytes the payloads of the same call with the same result may differ: an id, a duration, the
	// number of a prompt. Of other sizes nothing is read.
	sizeTolerance = 16
)

// digest stands for what a tool call was and came to.
type digest [sha256.Size]byte

func digestOf(t events.ToolUsed) (d digest) {
	h := sha256.New()
	for _, text := range []string{t.Tool, t.Input, t.Output} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(text)))
		h.Write(n[:])
		h.Write([]byte(text))
	}
	h.Sum(d[:0])
	return d
}

// onlyLooked reports whether a call only looked at something, so that the same result again says nothing.
func onlyLooked(c *evidence.Call) bool {
	return c != nil && !c.Failed && (c.Kind() == evidence.Read || c.Kind() == evidence.Search)
}

// markRepeats marks the inputs that did again, with the same result, what one of the session's earlier inputs had done. Sizes
// are those of the inputs' payloads.
func (t *Pipeline) markRepeats(ctx context.Context, inputs []observer.Input, sizes []int, earlier []session.Sized) error {
	wanted := map[digest][]int{}
	var near []int // sizes of those that are looked for
	for i, in := range inputs {
		if c := in.Call(); onlyLooked(c) {
			d := digestOf(c.ToolUsed)
			wanted[d] = append(wanted[d], i)
			near = append(near, sizes[i])
		}
	}
	for n := len(earlier) - 1; n >= 0 && len(wanted) > 0; n-- {
		if !anyNear(near, earlier[n].Size) {
			continue
		}
		_, e, err := t.event(ctx, earlier[n].Position)
		if err != nil {
			return err
		}
		t, ok := e.(events.ToolUsed)
		if !ok || t.Failed {
			continue
		}
		d := digestOf(t)
		for _, i := range wanted[d] {
			inputs[i].Repeats = true
		}
		delete(wanted, d)
	}
	return nil
}

func anyNear(sizes []int, size int) bool {
	return slices.ContainsFunc(sizes, func(n int) bool { return max(n, size)-min(n, size) <= sizeTolerance })
}
