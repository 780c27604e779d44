// Package crash kills servers (SIGKILL) while agents work and clients act, and checks that
// everything shown or answered before survives. It holds only tests. By default they run a few
// seeds; with -tags crash they run AGENTCTL_CRASH_SEEDS seeds.
package crash
