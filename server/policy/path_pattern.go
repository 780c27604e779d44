package policy

import (
	"path"
	"strings"
)

// matchPath reports whether a path matches a pattern: * and ? match within an element, ** any
// number of elements.
func matchPath(pattern, name string) bool {
	return matchElements(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchElements(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if matchElements(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
