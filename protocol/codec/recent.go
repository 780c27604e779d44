package codec

import "slices"

// A Recent maps keys to values and keeps the newest Limit of them. Set Limit before the first Put.
type Recent[V any] struct {
	Limit  int
	values map[string]V
	order  []string // oldest first
}

// Put sets a key's value and drops the oldest key beyond the limit. A known key keeps its place.
func (r *Recent[V]) Put(key string, v V) {
	if r.values == nil {
		r.values = map[string]V{}
	}
	if _, known := r.values[key]; !known {
		r.order = append(r.order, key)
	}
	r.values[key] = v
	for len(r.order) > r.Limit {
		delete(r.values, r.order[0])
		r.order = r.order[1:]
	}
}

// Get returns a key's value.
func (r *Recent[V]) Get(key string) (v V, ok bool) {
	v, ok = r.values[key]
	return v, ok
}

// Delete removes a key.
func (r *Recent[V]) Delete(key string) {
	if _, known := r.values[key]; known {
		delete(r.values, key)
		r.order = slices.DeleteFunc(r.order, func(k string) bool { return k == key })
	}
}

// Len returns the number of keys.
func (r *Recent[V]) Len() int { return len(r.values) }
