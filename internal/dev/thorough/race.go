//go:build race

package thorough

// race is whether the race detector is on.
const race = true
