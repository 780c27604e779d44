package server

import (
	"slices"
)

// A control buffer holds the lines that a connection writes first: answers, each of which holds a
// slot, and ephemeral events, the newest of each key.
type control struct {
	answers [][]byte
	keys    []string // of events, in order
	events  map[string][]byte
}

// put adds an ephemeral event, in place of a waiting one with the same key.
func (k *control) put(key string, line []byte) {
	if k.events == nil {
		k.events = map[string][]byte{}
	}
	if _, waiting := k.events[key]; !waiting {
		k.keys = append(k.keys, key)
	}
	k.events[key] = line
}

// take moves lines to buf and returns how many of them are answers. It stops at maxWrite bytes, so
// that many large answers are written as several messages, each with its own timeout.
func (k *control) take(buf []byte) ([]byte, int) {
	answers, keys := 0, 0
	for ; answers < len(k.answers) && len(buf) < maxWrite; answers++ {
		buf = append(append(buf, k.answers[answers]...), '\n')
	}
	for ; keys < len(k.keys) && len(buf) < maxWrite; keys++ {
		buf = append(append(buf, k.events[k.keys[keys]]...), '\n')
		delete(k.events, k.keys[keys])
	}
	k.answers, k.keys = slices.Delete(k.answers, 0, answers), slices.Delete(k.keys, 0, keys)
	return buf, answers
}
