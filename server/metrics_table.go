package server

import (
	"maps"
	"runtime"
	"slices"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/metrics"
)

// A Metric is a family of /metrics.
type Metric struct {
	metrics.Family
	write func(*metrics.Writer, *collection)
}

func counter(name, help string, of func(*collection) float64) Metric {
	return family(metrics.KindCounter, name, help, func(w *metrics.Writer, c *collection) { w.Sample(of(c)) })
}

func gauge(name, help string, of func(*collection) float64) Metric {
	return family(metrics.KindGauge, name, help, func(w *metrics.Writer, c *collection) { w.Sample(of(c)) })
}

func family(kind metrics.Kind, name, help string, write func(*metrics.Writer, *collection)) Metric {
	return Metric{metrics.Family{Name: name, Kind: kind, Help: help}, write}
}

// Metrics lists the families in their order. No label has a name or a text of a user or an agent.
var Metrics = []Metric{
	family(metrics.KindGauge, "agentctl_build_info", "The version; the value is 1.",
		func(w *metrics.Writer, c *collection) { w.Labelled("version", c.server.version, 1) }),
	gauge("agentctl_start_time_seconds", "Start of the server, in Unix time.",
		func(c *collection) float64 { return float64(c.traffic.started.UnixMilli()) / 1000 }),
	family(metrics.KindGauge, "agentctl_sessions", "Sessions, by status.", func(w *metrics.Writer, c *collection) {
		for _, status := range []protocol.Status{protocol.Idle, protocol.Running, protocol.Waiting, protocol.Closed} {
			w.Labelled("status", string(status), float64(c.statuses[status]))
		}
	}),
	gauge("agentctl_queued_messages", "Messages in queues.", func(c *collection) float64 { return float64(c.queued) }),
	gauge("agentctl_queue_age_seconds", "Age of the oldest message that is first in its queue.",
		func(c *collection) float64 { return c.age(c.server.hub.Sessions().OldestQueued()) }),
	gauge("agentctl_pending_approvals", "Requests that wait for a decision.",
		func(c *collection) float64 { return float64(c.asked) }),
	gauge("agentctl_approval_age_seconds", "Age of the oldest pending request.",
		func(c *collection) float64 { return c.age(c.oldestAsked) }),

	family(metrics.KindCounter, "agentctl_turns_total", "Turns that ended, by reason.",
		func(w *metrics.Writer, c *collection) { w.Vec("reason", c.counts.Turns) }),
	family(metrics.KindCounter, "agentctl_turn_errors_total", "Turns that ended with an error, by its code.",
		func(w *metrics.Writer, c *collection) { w.Vec("code", c.counts.TurnErrors) }),
	family(metrics.KindCounter, "agentctl_tokens_total",
		"Tokens that agents report; input includes cached tokens, output reasoning tokens.",
		func(w *metrics.Writer, c *collection) {
			w.Labelled("type", "input", c.counts.Input.Value())
			w.Labelled("type", "output", c.counts.Output.Value())
			w.Labelled("type", "cached", c.counts.Cached.Value())
			w.Labelled("type", "reasoning", c.counts.Reasoning.Value())
		}),
	family(metrics.KindCounter, "agentctl_cost_total", "Cost that agents reported, by currency.",
		func(w *metrics.Writer, c *collection) {
			sums := c.counts.Cost.Sums()
			for _, of := range slices.Sorted(maps.Keys(sums)) {
				w.Labelled("currency", of, sums[of])
			}
		}),
	gauge("agentctl_agent_processes", "Processes of agents.",
		func(c *collection) float64 { return float64(c.server.hub.Processes().Len()) }),
	counter("agentctl_agent_starts_total", "Processes of agents that were started, restarts included.",
		func(c *collection) float64 { return c.counts.AgentStarts.Value() }),
	family(metrics.KindCounter, "agentctl_agent_start_failures_total", "Starts of agents that failed, by code.",
		func(w *metrics.Writer, c *collection) { w.Vec("code", c.counts.StartFailures) }),

	counter("agentctl_commits_total", "Transactions of the store.",
		func(c *collection) float64 { return c.counts.Commits.Value() }),
	counter("agentctl_commit_failures_total", "Transactions that failed.",
		func(c *collection) float64 { return c.counts.CommitFailures.Value() }),
	counter("agentctl_committed_batches_total", "Changes of sessions that were committed.",
		func(c *collection) float64 { return c.counts.Batches.Value() }),
	counter("agentctl_committed_events_total", "Events that were committed.",
		func(c *collection) float64 { return c.counts.Events.Value() }),
	counter("agentctl_committed_bytes_total", "Bytes of these events.",
		func(c *collection) float64 { return c.counts.EventBytes.Value() }),
	family(metrics.KindHistogram, "agentctl_commit_seconds", "Time of a transaction.",
		func(w *metrics.Writer, c *collection) { w.Histogram(&c.counts.CommitTime) }),
	gauge("agentctl_store_bytes", "Bytes of the database in use.",
		func(c *collection) float64 { return float64(c.bytes) }),

	family(metrics.KindGauge, "agentctl_clients", "Connected clients, by protocol.",
		func(w *metrics.Writer, c *collection) {
			for _, name := range append([]string{nativeName}, dialect.Names()...) {
				w.Labelled("protocol", name, float64(c.clients[name]))
			}
		}),
	gauge("agentctl_http_requests", "HTTP requests in progress, client connections included.",
		func(c *collection) float64 { return float64(c.server.runningRequests()) }),
	gauge("agentctl_subscriptions", "Subscriptions of clients to sessions, without those over SSE.",
		func(c *collection) float64 { return float64(c.watching) }),
	gauge("agentctl_lag_events", "Events that clients have not received yet, of all subscriptions.",
		func(c *collection) float64 { return float64(c.lag) }),
	gauge("agentctl_max_lag_events", "Events that the slowest subscription has not received yet.",
		func(c *collection) float64 { return float64(c.maxLag) }),
	gauge("agentctl_unacknowledged_bytes", "Bytes that were sent and are not acknowledged.",
		func(c *collection) float64 { return float64(c.unacked) }),
	counter("agentctl_delivered_events_total", "Events that were sent to clients.",
		func(c *collection) float64 { return c.traffic.events.Value() }),
	counter("agentctl_delivered_bytes_total", "Bytes of these events, deltas joined.",
		func(c *collection) float64 { return c.traffic.bytes.Value() }),
	family(metrics.KindCounter, "agentctl_errors_total", "Errors answered to clients, by code.",
		func(w *metrics.Writer, c *collection) { w.Vec("code", c.traffic.errors) }),

	gauge("agentctl_goroutines", "Goroutines of the server.",
		func(*collection) float64 { return float64(runtime.NumGoroutine()) }),
	gauge("agentctl_heap_bytes", "Bytes of the heap in use.", func(*collection) float64 { return heapBytesInUse() }),
}
