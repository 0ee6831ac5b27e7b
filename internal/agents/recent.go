package agents

import "container/list"

// recent is a map that forgets the oldest entries over its bounds, so that a transcript of any length costs the same
// memory. The newest entry stays even if it is over the bound alone. The zero value is not ready: see newRecent.
type recent[V any] struct {
	max, maxSize int
	size         int        // of all entries
	order        *list.List // of *recentEntry[V], oldest first
	byKey        map[string]*list.Element
}

type recentEntry[V any] struct {
	key   string
	value V
	size  int
}

// newRecent returns an empty map that holds at most max entries, and keys and values of at most maxSize bytes.
func newRecent[V any](max, maxSize int) *recent[V] {
	return &recent[V]{max: max, maxSize: maxSize, order: list.New(), byKey: make(map[string]*list.Element)}
}

// put sets what key stands for, whose value has size bytes, and returns how many older entries were forgotten for it.
func (r *recent[V]) put(key string, v V, size int) (forgotten int) {
	r.drop(key)
	size += len(key)
	r.byKey[key] = r.order.PushBack(&recentEntry[V]{key, v, size})
	r.size += size
	for r.order.Len() > 1 && (r.order.Len() > r.max || r.size > r.maxSize) {
		r.drop(r.order.Front().Value.(*recentEntry[V]).key)
		forgotten++
	}
	return forgotten
}

// get returns what key stands for, and whether it is here.
func (r *recent[V]) get(key string) (v V, ok bool) {
	if e := r.byKey[key]; e != nil {
		return e.Value.(*recentEntry[V]).value, true
	}
	return v, false
}

func (r *recent[V]) drop(key string) {
	e := r.byKey[key]
	if e == nil {
		return
	}
	r.size -= r.order.Remove(e).(*recentEntry[V]).size
	delete(r.byKey, key)
}
