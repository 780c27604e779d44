package server

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func summaries(t *testing.T, got []received) (list []protocol.Summary) {
	t.Helper()
	for _, m := range ofType(got, protocol.SummaryChanged) {
		list = append(list, decode[protocol.Summary](t, m))
	}
	return list
}

func TestWatchTellsEveryChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		synctest.Wait() // the summary follows the event
		c, other := w.dial().collect(), w.dial().collect()
		now := result[protocol.ListResult](c.testClient, c.ask(protocol.DoWatch, "", nil)).Sessions
		if len(now) != 1 || now[0].Session != id || now[0].Reason != protocol.ReasonCompleted {
			t.Fatalf("answer to watch: %+v", now)
		}
		made := result[protocol.CreateResult](
			other.testClient,
			other.ask(protocol.DoCreate, "", protocol.CreateData{Name: "new"}),
		).Session
		if list := summaries(t, c.all()); len(list) == 0 || list[len(list)-1].Session != made ||
			list[len(list)-1].Name != "new" {
			t.Errorf("after a create: %+v", list)
		}
		other.ask(protocol.DoSend, id, protocol.SendData{Text: "ask"})
		if list := summaries(t, c.all()); len(list) == 0 || list[len(list)-1].Status != protocol.Waiting ||
			list[len(list)-1].Approvals != 1 || list[len(list)-1].Asked == nil {
			t.Errorf("after a request: %+v", list)
		}
		other.ask(protocol.DoSubscribe, id, nil)
		if list := summaries(t, c.all()); len(list) == 0 || list[len(list)-1].Clients != 1 {
			t.Errorf("after a subscribe: %+v", list)
		}
		other.ask(protocol.DoClose, made, protocol.CloseData{Delete: true})
		if list := summaries(t, c.all()); len(list) == 0 || list[len(list)-1].Session != made ||
			!list[len(list)-1].Deleted {
			t.Errorf("after a deletion: %+v", list)
		}
		c.ask(protocol.DoWatch, "", protocol.WatchData{Off: true})
		c.all()
		other.ask(protocol.DoClose, id, protocol.CloseData{})
		if list := summaries(t, c.all()); len(list) != 0 {
			t.Errorf("after watch off: %+v", list)
		}
	})
}

// A watcher that does not read for a while receives each session once, in its newest state.
func TestSummariesAreConflated(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		other := w.dial().collect()
		var ids []string
		for range 3 {
			ids = append(
				ids,
				result[protocol.CreateResult](other.testClient, other.ask(protocol.DoCreate, "", nil)).Session,
			)
		}
		c := w.dial()
		c.ask(protocol.DoWatch, "", nil)
		const changes = 50
		for n := range changes {
			for _, id := range ids {
				title := fmt.Sprint(n)
				other.ask(protocol.DoRename, id, protocol.RenameData{Title: &title})
			}
		}
		list := map[string][]protocol.Summary{}
		for _, s := range summaries(t, c.collect().all()) {
			list[s.Session] = append(list[s.Session], s)
		}
		for _, id := range ids {
			// One may have been in flight when the client stopped reading.
			if n := len(list[id]); n < 1 || n > 2 || list[id][n-1].Title != fmt.Sprint(changes-1) {
				t.Errorf("after %d changes: %+v", changes, list[id])
			}
		}
	})
}

func TestListLeavesClosedSessionsOut(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	open, closed := c.create(""), c.create("")
	c.ask(protocol.DoClose, closed, nil)
	if list := ok[protocol.ListResult](c, protocol.DoList, "", nil).Sessions; len(list) != 1 ||
		list[0].Session != open {
		t.Errorf("list %+v", list)
	}
	if list := ok[protocol.ListResult](c, protocol.DoList, "",
		protocol.ListData{Closed: true}).Sessions; len(list) != 2 {
		t.Errorf("list with closed ones %+v", list)
	}
}

func TestServerIsIdleWhenNobodyIsThereAndNothingRuns(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		idle := func() bool {
			synctest.Wait()
			since, ok := w.server.IdleSince()
			return ok && time.Since(since) == 0
		}
		c := w.dial()
		id := c.create("gate")
		if idle() {
			t.Error("idle with a client")
		}
		_ = c.ws.CloseNow()
		if idle() {
			t.Error("idle with a turn")
		}
		r, err := http.NewRequestWithContext(
			t.Context(),
			"GET",
			"http://server/api/sessions/"+id+"/events?since=3",
			nil,
		)
		must(t, err)
		resp, err := httpClient(w.pipe.Dial).Do(r)
		must(t, err)
		w.script.OpenGate("gate")
		if idle() {
			t.Error("idle with a stream")
		}
		time.Sleep(10 * time.Second)
		_ = resp.Body.Close()
		if !idle() {
			t.Error("not idle without clients")
		}
	})
}

func TestStreamEndsWithTheServer(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://server/api/sessions/"+id+"/events", nil)
		must(t, err)
		resp, err := httpClient(w.pipe.Dial).Do(r)
		must(t, err)
		defer resp.Body.Close()
		ended := make(chan error)
		go func() {
			_, err := io.Copy(io.Discard, resp.Body)
			ended <- err
		}()
		synctest.Wait()
		must(t, w.server.Shutdown(t.Context()))
		<-ended
	})
}

// A client that only watches gets summaries, not the text of sessions. At 500 words a second one
// session costs it less than 8 KB a second.
func TestWatchOfAWritingSessionIsCheap(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c, other := w.dial().collect(), w.dial().collect()
		c.ask(protocol.DoWatch, "", nil)
		labels := map[string]string{}
		for i := range protocol.MaxLabels / 4 {
			labels[fmt.Sprint("label-", i)] = "a value of some length"
		}
		id := result[protocol.CreateResult](other.testClient, other.ask(protocol.DoCreate, "", protocol.CreateData{
			Name: "a-name-of-some-length", Title: "A title that says what the session is about", CWD: t.TempDir(),
			Labels: labels,
		})).Session
		c.all()
		other.ask(protocol.DoSend, id, protocol.SendData{Text: "five hundred words a second"})
		const seconds = 6
		time.Sleep(seconds * time.Second)
		bytes, texts := int64(0), 0
		for _, m := range c.all() {
			bytes += m.size
			if m.Type != protocol.SummaryChanged {
				texts++
			}
		}
		if rate := bytes / seconds; rate > 8000 || rate < 200 || texts > 0 {
			t.Errorf("%d bytes a second, want at most 8000 and a summary; %d other frames", rate, texts)
		}
		t.Logf("%d bytes a second", bytes/seconds)
	})
}
