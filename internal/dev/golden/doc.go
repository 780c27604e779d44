// Package golden owns the flag -update of tests and the files that it rewrites. Every test package
// below tui imports it, so that go test ./tui/... -update runs. It must not know what the files hold.
package golden
