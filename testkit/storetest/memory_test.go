package storetest_test

import (
	"testing"

	"github.com/cmemd/cmemd/eventlog/share/store"
	"github.com/cmemd/cmemd/testkit/storetest"
)

// place is a Memory with connections that fail together.
func place(testing.TB) storetest.Place {
	memory := storetest.NewMemory()
	var faulty []*storetest.Faulty
	return storetest.Place{
		Open: func(testing.TB) store.Store {
			c := memory.Connect(nil)
			faulty = append(faulty, c)
			return c
		},
		Steady: func(testing.TB) store.Store { return memory.Connect(nil) },
		Fault: func(f storetest.Fault) {
			faults := map[storetest.Fault]storetest.Faults{storetest.Cut: {Cut: true}, storetest.Unheard: {Lose: 1}}
			for _, c := range faulty {
				c.Set(faults[f])
			}
		},
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, place)
	storetest.RunConnected(t, place)
}
