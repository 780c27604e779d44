// Package metrics counts, and writes numbers in the text format of Prometheus. Counters are atomic
// and never wait. It knows no server.
package metrics
