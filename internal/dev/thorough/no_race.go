//go:build !race

package thorough

const race = false
