// Package thorough says how much a test does that could always do more, such as sizes of a screen or
// random seeds. By default a test does enough to find the faults that people make; with the variable
// AGENTCTL_TEST_THOROUGH, which the section zone of CI sets, it does everything, and under the race
// detector a part. It must not know what the tests do.
package thorough
