package share

import (
	"maps"
	"slices"
	"sync"
)

// problems are what is not well, in words, each under the name of what it is about.
type problems struct {
	mu    sync.Mutex // guards words
	words map[string]string
}

// set says what is not well with about; nil says that it is well.
func (p *problems) set(about string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.words, about)
		return
	}
	p.words[about] = err.Error()
}

// of is what is not well with about; "" if it is well.
func (p *problems) of(about string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.words[about]
}

// all is everything, in the order of what it is about.
func (p *problems) all() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, about := range slices.Sorted(maps.Keys(p.words)) {
		all = append(all, about+": "+p.words[about])
	}
	return all
}
