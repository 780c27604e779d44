//go:build linux || darwin

package process

import "strings"

// marked returns the running processes that have a mark in their environment.
func marked(mark string) (list []Group) {
	if mark == "" {
		return nil
	}
	for _, g := range descendants(0) { // all processes
		if strings.Contains(environment(g.PID), mark) {
			list = append(list, g)
		}
	}
	return list
}
