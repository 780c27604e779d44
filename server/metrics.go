package server

import (
	"net/http"
	"runtime"
	"time"

	"agentctl/protocol"
	"agentctl/server/metrics"
	"agentctl/server/session"
	"agentctl/server/session/upkeep"
	"agentctl/server/web"
)

// metricsPath serves the metrics.
const metricsPath = "/metrics"

// A traffic counts events and bytes sent to clients.
type traffic struct {
	started time.Time
	events  metrics.Counter // joined deltas count each
	bytes   metrics.Counter
	errors  *metrics.Vec // answers, by code
}

func newTraffic() *traffic {
	return &traffic{started: time.Now(), errors: metrics.NewVec(protocol.Codes...)}
}

// failed counts an error answered to a client.
func (t *traffic) failed(code protocol.Code) { t.errors.Of(string(code)).Add(1) }

// delivered counts events written to a client.
func (t *traffic) delivered(events uint64, bytes int) {
	t.events.Add(events)
	t.bytes.Add(uint64(bytes))
}

// serveMetrics answers a scrape if the caller's role is operator or above, or metrics. The numbers
// reveal activity in other sessions, so observers and agents do not get them.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	from := callerOf(r, "")
	if !metricsRoute.Allows(from.role) || from.scope() != "" {
		web.WriteError(w, http.StatusForbidden, protocol.CodeForbidden, "metrics need the role metrics or operator")
		return
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(s.scrape(r).Bytes())
}

// scrape collects all metrics.
func (s *Server) scrape(r *http.Request) *metrics.Writer {
	c := &collection{
		server: s, counts: s.hub.Metrics(), traffic: s.traffic, statuses: map[protocol.Status]int{},
		clients: map[string]int{}, now: time.Now(),
	}
	if store, ok := s.hub.Store().(upkeep.Sizer); ok {
		if size, err := store.Size(r.Context()); err == nil {
			c.bytes = size
		} else {
			s.log.Warn("size of the store", "err", err)
		}
	}
	s.hub.Sessions().Each(c.session)
	s.eachConn(c.client)
	w := new(metrics.Writer)
	for i := range Metrics {
		w.Begin(Metrics[i].Family)
		Metrics[i].write(w, c)
	}
	return w
}

// A collection holds the data that a scrape reads once.
type collection struct {
	server  *Server
	counts  *session.Metrics
	traffic *traffic
	now     time.Time
	bytes   int64 // of the store; 0: not known

	statuses                map[protocol.Status]int
	queued, asked, watching int       // messages, approvals, subscriptions
	oldestAsked             time.Time // zero: none

	clients     map[string]int // by protocol
	maxLag, lag uint64         // events
	unacked     int64          // bytes
}

// session adds the summary of a session.
func (c *collection) session(sum *protocol.Summary) {
	c.statuses[sum.Status]++
	if sum.Status == protocol.Closed {
		return
	}
	c.queued += sum.Queue
	c.asked += sum.Approvals
	if sum.Asked != nil && (c.oldestAsked.IsZero() || sum.Asked.Before(c.oldestAsked)) {
		c.oldestAsked = *sum.Asked
	}
}

// client adds a connection.
func (c *collection) client(conn *conn) {
	c.clients[conn.transport.Name()]++
	conn.outbox.mu.Lock()
	defer conn.outbox.mu.Unlock()
	c.unacked += conn.outbox.unacked
	for _, s := range conn.outbox.subs {
		behind := s.log.Position().Seq - s.acknowledged(conn.outbox.window)
		c.watching++
		c.lag += behind
		c.maxLag = max(c.maxLag, behind)
	}
}

// age returns the seconds since a time, 0 for the zero time.
func (c *collection) age(of time.Time) float64 {
	if of.IsZero() {
		return 0
	}
	return max(0, c.now.Sub(of).Seconds())
}

func heapBytesInUse() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse)
}
