package vectors

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/cmemd/cmemd/events"
)

// BenchmarkNearest looks at all of 100,000 rows of 768 dimensions, and at a tenth of them by their ids.
func BenchmarkNearest(b *testing.B) {
	const rows, dims = 100_000, 768
	s := storeAt(b, filepath.Join(b.TempDir(), "v"))
	defer s.close()
	rng := rand.New(rand.NewPCG(1, 2))
	vector := func() []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		unit(v)
		return v
	}
	var some []events.Position
	for i := 0; i < rows; i += 1000 {
		var list []row
		for j := range 1000 {
			id := events.ID{0: byte(i >> 16), 1: byte(i >> 8), 2: byte(i), 3: byte(j >> 8), 4: byte(j)}
			list = append(list, row{rowRef{id: id, position: events.Position(i + j + 1)}, vector()})
			if j%10 == 0 {
				some = append(some, events.Position(i+j+1))
			}
		}
		if err := s.append(list, list[len(list)-1].rowRef); err != nil {
			b.Fatal(err)
		}
	}
	question := vector()
	for _, only := range [][]events.Position{nil, some} {
		b.Run(fmt.Sprintf("only=%d", len(only)), func(b *testing.B) {
			for b.Loop() {
				if got, _, err := s.nearest(question, only, 100); err != nil || len(got) != 100 {
					b.Fatal(len(got), err)
				}
			}
		})
	}
}
