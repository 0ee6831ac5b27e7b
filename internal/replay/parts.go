package replay

import (
	"runtime"
	"sync"
)

// inParallel has all processors do something with n things, each with the next of them, and returns when that is done.
func inParallel(n int, do func(from, to int)) {
	const few = 1000 // are not worth a goroutine
	size := max(few, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for from := 0; from < n; from += size {
		wg.Go(func() { do(from, min(from+size, n)) })
	}
	wg.Wait()
}
