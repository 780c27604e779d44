// Package crash kills real servers (kill -9) while agents work and people act, and holds them to what was shown and answered.
// It holds tests only. `go test` kills a few; with -tags crash it takes AGENTCTL_CRASH_SEEDS seeds.
package crash
