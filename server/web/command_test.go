package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/web"
)

// post sends a request with a body and returns the status and the body of the answer.
func (w *testServer) post(method, path, body string, header ...string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://server"+path, strings.NewReader(body))
	must(w.t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := w.client.Do(r)
	must(w.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(w.t, err)
	return resp.StatusCode, strings.TrimSpace(string(b))
}

// answered sends a request that must succeed and decodes its answer.
func answered[T any](w *testServer, status int, method, path, body string, header ...string) (v T) {
	w.t.Helper()
	got, text := w.post(method, path, body, header...)
	if got != status {
		w.t.Fatalf("%s %s: %d %s", method, path, got, text)
	}
	must(w.t, json.Unmarshal([]byte(text), &v))
	return v
}

func TestCommandsAreRequests(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		created := answered[protocol.CreateResult](w, 201, "POST", "/api/sessions", `{"name":"fix","labels":{"a":"1"}}`)
		at := "/api/sessions/" + created.Session
		state := func() *protocol.State {
			synctest.Wait()
			return answered[protocol.SnapshotResult](w, 200, "GET", at+"/state", "").Snapshot.State
		}
		answered[protocol.Empty](w, 200, "PATCH", at, `{"title":"Fix it"}`)
		answered[protocol.LabelResult](w, 200, "PATCH", at+"/labels", `{"labels":{"b":"2"}}`)
		if s := state(); s.Title != "Fix it" || len(s.Labels) != 2 {
			t.Errorf("the state is %+v", s)
		}
		labels := answered[protocol.LabelResult](w, 200, "PUT", at+"/labels", `{"labels":{"c":"3"}}`).Labels
		if len(labels) != 1 || labels["c"] != "3" {
			t.Errorf("labels %v", labels)
		}
		if m := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"hang"}`); m.Status != "started" {
			t.Errorf("sent %+v", m)
		}
		first := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"one"}`)
		second := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"two","front":true}`)
		answered[protocol.Empty](w, 200, "PUT", at+"/queue/"+first.MessageID, `{"text":"uno"}`)
		answered[protocol.Empty](w, 200, "POST", at+"/queue/"+first.MessageID+"/move", `{"index":0}`)
		answered[protocol.QueueHoldResult](w, 200, "POST", at+"/queue/"+first.MessageID+"/hold", "")
		hold := answered[protocol.QueueHoldResult](w, 200, "POST", at+"/queue/hold", "").Hold
		queue := answered[web.QueueResult](w, 200, "GET", at+"/queue", "")
		if len(queue.Messages) != 2 || queue.Messages[0].Text != "uno" || len(queue.Holds) != 2 {
			t.Errorf("the queue is %+v", queue)
		}
		if r := answered[protocol.QueueRemoveResult](w, 200, "DELETE", at+"/queue/"+second.MessageID, ""); !r.Removed {
			t.Error("the message was not removed")
		}
		released := answered[protocol.QueueReleaseResult](w, 200, "POST", at+"/queue/release", `{"hold":"`+hold+`"}`)
		if len(released.Released) != 1 {
			t.Errorf("released %v", released)
		}
		interrupted := answered[protocol.InterruptResult](w, 200, "POST", at+"/interrupt", `{"queue":"clear"}`)
		if !interrupted.Interrupted {
			t.Error("not interrupted")
		}
		answered[protocol.RulesResult](w, 200, "GET", at+"/rules", "")
		answered[protocol.Options](w, 200, "GET", at+"/options", "")
		page := answered[protocol.HistoryResult](w, 200, "GET", at+"/history?limit=1", "")
		if len(page.Events) == 0 {
			t.Errorf("the history is %+v", page)
		}
		answered[protocol.SearchResult](w, 200, "GET", at+"/search?query=hang&limit=1", "")
		exported := answered[protocol.ExportResult](w, 200, "POST", at+"/export", "")
		again := string(protocol.MustEncode(protocol.RestoreData{State: exported.State}))
		answered[protocol.CreateResult](w, 201, "POST", "/api/sessions/restore", again)
		answered[protocol.Empty](w, 200, "POST", at+"/close", `{"reason":"done"}`)
		if s := answered[protocol.Summary](w, 200, "GET", at, ""); s.Status != protocol.Closed {
			t.Errorf("the session is %+v", s)
		}
		answered[protocol.Empty](w, 200, "DELETE", at+"?reason=old", "")
		refused(t, w.request("GET", at), 404, protocol.CodeNoSession)
	})
}

func TestARequestIsDecidedOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("ask")
		at := "/api/sessions/" + id
		list := answered[web.ApprovalsResult](w, 200, "GET", at+"/approvals", "").Approvals
		if len(list) != 1 {
			t.Fatalf("approvals %+v", list)
		}
		path := at + "/approvals/" + list[0].Request + "/decision"
		got := answered[protocol.ApproveResult](w, 200, "POST", path, `{"decision":"allow_once"}`)
		if got.Outcome != protocol.Allowed {
			t.Errorf("decided %+v", got)
		}
		status, text := w.post("POST", path, `{"decision":"deny"}`)
		var failure web.Failure
		must(t, json.Unmarshal([]byte(text), &failure))
		if status != 409 || failure.Error.Code != protocol.CodeConflict || failure.Error.Winner == nil {
			t.Errorf("decided again: %d %s", status, text)
		}
	})
}

func TestARepeatedKeyActsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		path := "/api/sessions/" + id + "/messages"
		for _, c := range []struct{ method, path, body, other string }{
			{"POST", "/api/sessions", `{"title":"x"}`, `{"title":"y"}`},
			{"POST", path, `{"text":"few"}`, `{"text":"many"}`},
			{"PUT", "/api/sessions/" + id + "/labels", `{"labels":{"a":"1"}}`, `{"labels":{"a":"2"}}`},
			{"POST", "/api/sessions/" + id + "/interrupt", "", `{"turn":"x"}`},
		} {
			key := "key " + c.path
			status, first := w.post(c.method, c.path, c.body, web.KeyHeader, key)
			synctest.Wait()
			again, second := w.post(c.method, c.path, c.body, web.KeyHeader, key)
			if status >= 300 || again != status || second != first {
				t.Errorf("%s: %d %s, again %d %s", c.path, status, first, again, second)
			}
			status, text := w.post(c.method, c.path, c.other, web.KeyHeader, key)
			if status != 409 || !strings.Contains(text, `"key_reused"`) {
				t.Errorf("%s with another body: %d %s", c.path, status, text)
			}
		}
		synctest.Wait()
		if all := get[web.MessagesResult](w, path).Messages; len(all) != 4 {
			t.Errorf("%d messages of two turns", len(all))
		}
	})
}

func TestARefusedFieldHasTheReason(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		at := "/api/sessions/" + w.runTurn("few")
		for _, c := range []struct{ method, path, body, want string }{
			{"PUT", at + "/queue/m1", `{"message_id":"m2","text":"x"}`, "message_id: the path sets this field"},
			{"POST", at + "/close", `{"delete":true}`, "delete: the path sets this field"},
			{"GET", at + "/history?limit=all", "", `limit: \"all\" is not a whole number`},
			{"GET", at + "/history?before=-1", "", `before: \"-1\" is not a whole number, 0 or more`},
			{"GET", "/api/sessions?closed=7", "", `closed: \"7\" is not true or false`},
		} {
			if status, answer := w.post(c.method, c.path, c.body); status != 400 || !strings.Contains(answer, c.want) {
				t.Errorf("%s %s: %d %s, want %s", c.method, c.path, status, answer, c.want)
			}
		}
	})
}

func TestAnInvalidRequestIsRefused(t *testing.T) {
	const invalid, notJSON = protocol.CodeInvalidMessage, protocol.CodeInvalidJSON
	bubble(t, func(t *testing.T, w *testServer) {
		at := "/api/sessions/" + w.runTurn("few")
		text, key := `{"text":"x"}`, web.KeyHeader
		deep := `{"parts":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`
		big := `{"text":"` + strings.Repeat("x", 64<<10) + `"}`
		for name, c := range map[string]struct {
			method, path, body, header, value string
			status                            int
			code                              protocol.Code
		}{
			"not JSON":          {"POST", at + "/messages", `{"text":`, "", "", 400, notJSON},
			"not UTF-8":         {"POST", at + "/messages", "{\"text\":\"\xff\"}", "", "", 400, notJSON},
			"two objects":       {"POST", at + "/messages", `{"text":"x"}{}`, "", "", 400, notJSON},
			"not an object":     {"POST", at + "/messages", `["x"]`, "", "", 400, invalid},
			"null":              {"POST", at + "/messages", `null`, "", "", 400, invalid},
			"unknown field":     {"POST", at + "/messages", `{"text":"x","mood":1}`, "", "", 400, invalid},
			"duplicate field":   {"POST", at + "/messages", `{"text":"x","text":"y"}`, "", "", 400, invalid},
			"wrong case":        {"POST", at + "/messages", `{"Text":"x"}`, "", "", 400, invalid},
			"wrong type":        {"POST", at + "/messages", `{"text":1}`, "", "", 400, invalid},
			"deep":              {"POST", at + "/messages", deep, "", "", 400, invalid},
			"large":             {"POST", at + "/messages", big, "", "", 413, protocol.CodeTooLarge},
			"field of the path": {"PUT", at + "/queue/m1", `{"message_id":"m2","text":"x"}`, "", "", 400, invalid},
			"field of the route": {
				"POST", at + "/close", `{"delete":true}`, "", "", 400, invalid,
			},
			"form":              {"POST", at + "/interrupt", "{}", "Content-Type", "text/plain", 415, invalid},
			"empty key":         {"POST", at + "/interrupt", "", key, "", 400, invalid},
			"long key":          {"POST", at + "/interrupt", "", key, strings.Repeat("k", 129), 400, invalid},
			"body of a read":    {"GET", at + "/state", "{}", "", "", 400, invalid},
			"unknown parameter": {"GET", at + "/history?depth=1", "", "", "", 400, invalid},
			"parameter twice":   {"GET", at + "/history?limit=1&limit=2", "", "", "", 400, invalid},
			"not a number":      {"GET", at + "/history?limit=all", "", "", "", 400, invalid},
			"negative":          {"GET", at + "/history?before=-1", "", "", "", 400, invalid},
			"unknown wait":      {"POST", at + "/messages?wait=ever", text, "", "", 400, invalid},
			"no wait":           {"POST", at + "/messages?timeout=1", text, "", "", 400, invalid},
			"long wait":         {"POST", at + "/messages?wait=turn&timeout=3601", text, "", "", 400, invalid},
			"no session":        {"POST", "/api/sessions/none/messages", text, "", "", 404, protocol.CodeNoSession},
			"no message":        {"GET", at + "/messages/none", "", "", "", 404, protocol.CodeNotFound},
			"no request": {
				"POST", at + "/approvals/none/decision", `{"decision":"deny"}`, "", "", 404, protocol.CodeNotFound,
			},
			"no format": {"GET", at + "/export?format=pdf", "", "", "", 400, invalid},
			"method":    {"PUT", "/api/sessions", "{}", "", "", 405, protocol.CodeUnsupported},
			"options":   {"OPTIONS", "/api/sessions", "", "", "", 405, protocol.CodeUnsupported},
		} {
			var header []string
			if c.header != "" {
				header = []string{c.header, c.value}
			}
			if c.header == "Content-Type" {
				body := strings.NewReader(c.body)
				r, err := http.NewRequestWithContext(t.Context(), c.method, "http://server"+c.path, body)
				must(t, err)
				r.Header.Set("Content-Type", c.value)
				resp, err := w.client.Do(r)
				must(t, err)
				refused(t, resp, c.status, c.code)
				must(t, resp.Body.Close())
				continue
			}
			status, answer := w.post(c.method, c.path, c.body, header...)
			var failure web.Failure
			err := json.Unmarshal([]byte(answer), &failure)
			if err != nil || status != c.status || failure.Error.Code != c.code {
				t.Errorf("%s: %d %s, want %d %s", name, status, answer, c.status, c.code)
			}
		}
		synctest.Wait()
		if n := len(get[web.MessagesResult](w, at+"/messages").Messages); n != 2 {
			t.Errorf("refused requests acted: %d messages", n)
		}
		time.Sleep(time.Second) // net/http waits after it refused a large body
	})
}

func TestASendThatWaitsAnswersWithTheOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		at := "/api/sessions/" + w.runTurn("few")
		m := answered[web.MessageResult](w, 200, "POST", at+"/messages?wait=turn&timeout=60", `{"text":"slow"}`)
		o := m.Outcome
		if m.Status != web.MessageEnded || o == nil || o.Reason != protocol.ReasonCompleted || o.Text != "at last" ||
			o.MessageID != m.MessageID || o.Turn != m.Turn {
			t.Fatalf("got %+v %+v", m, o)
		}
		if got := answered[web.MessageResult](w, 200, "GET", at+"/messages/"+m.MessageID, ""); got.Outcome == nil {
			t.Errorf("later: %+v", got)
		}

		began := time.Now()
		m = answered[web.MessageResult](w, 200, "POST", at+"/messages?wait=turn&timeout=5", `{"text":"hang"}`,
			web.KeyHeader, "hang")
		if m.Status != "started" || m.Outcome != nil || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %+v", time.Since(began), m)
		}
		queued := answered[web.MessageResult](w, 200, "POST", at+"/messages?wait=turn&timeout=1", `{"text":"few"}`)
		if queued.Status != "queued" || queued.Index == nil {
			t.Errorf("behind it: %+v", queued)
		}
		go func() {
			time.Sleep(time.Second)
			answeredOnce(w, "DELETE", at+"/queue/"+queued.MessageID)
		}()
		got := answered[web.MessageResult](w, 200, "GET", at+"/messages/"+queued.MessageID+"?wait=turn", "")
		if got.Status != web.MessageRemoved {
			t.Errorf("removed: %+v", got)
		}
		go func() {
			time.Sleep(time.Second)
			answeredOnce(w, "POST", at+"/interrupt")
		}()
		got = answered[web.MessageResult](w, 200, "POST", at+"/messages?wait=turn&timeout=5", `{"text":"hang"}`,
			web.KeyHeader, "hang")
		if got.MessageID != m.MessageID || got.Outcome == nil || got.Outcome.Reason != protocol.ReasonInterrupted {
			t.Errorf("interrupted: %+v", got)
		}
		got = answered[web.MessageResult](w, 200, "POST", at+"/messages?wait=turn", `{"text":"ask"}`)
		if got.Needs != web.NeedsApproval {
			t.Errorf("asked: %+v", got)
		}
		answeredOnce(w, "POST", at+"/queue/hold")
		held := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"few"}`)
		answeredOnce(w, "POST", at+"/interrupt")
		got = answered[web.MessageResult](w, 200, "GET", at+"/messages/"+held.MessageID+"?wait=turn", "")
		if got.Needs != web.NeedsRelease {
			t.Errorf("held: %+v", got)
		}
		synctest.Wait()
		if clients := w.snapshot(strings.TrimPrefix(at, "/api/sessions/")).Clients; len(clients) != 0 {
			t.Errorf("clients after the waits: %+v", clients)
		}
	})
}

// A message is delivered in the turn that runs, once per key, and so is one that waits in the queue. Its sender
// follows it to the end of that turn.
func TestAMessageJoinsATurnOverHTTP(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		at := "/api/sessions/" + w.runTurn("few")
		lead := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"lead"}`)
		const steer = `{"text":"use go","delivery":"steer"}`
		m := answered[web.MessageResult](w, 200, "POST", at+"/messages", steer, web.KeyHeader, "once")
		if m.Status != string(protocol.SendSteering) || m.Turn != lead.Turn {
			t.Errorf("sent %+v, into %s", m, lead.Turn)
		}
		synctest.Wait()
		if again := answered[web.MessageResult](w, 200, "POST", at+"/messages", steer, web.KeyHeader, "once"); again.MessageID != m.MessageID {
			t.Errorf("sent again %+v", again)
		}
		got := answered[web.MessageResult](w, 200, "GET", at+"/messages/"+m.MessageID, "")
		if got.Status != string(protocol.SendStarted) || got.Turn != lead.Turn {
			t.Errorf("taken in: %+v", got)
		}
		got = answered[web.MessageResult](w, 200, "GET", at+"/messages/"+m.MessageID+"?wait=turn", "")
		if got.Outcome == nil || got.Outcome.Turn != lead.Turn || got.Outcome.Text != "I use go" {
			t.Errorf("ended: %+v %+v", got, got.Outcome)
		}

		answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"lead"}`)
		queued := answered[web.MessageResult](w, 200, "POST", at+"/messages", `{"text":"use c"}`)
		m = answered[web.MessageResult](w, 200, "POST", at+"/queue/"+queued.MessageID+"/steer", "")
		if queued.Status != string(protocol.SendQueued) || m.Status != string(protocol.SendSteering) {
			t.Errorf("queued %+v, then %+v", queued, m)
		}
		got = answered[web.MessageResult](w, 200, "GET", at+"/messages/"+queued.MessageID+"?wait=turn", "")
		if got.Outcome == nil || got.Outcome.Text != "I use c" {
			t.Errorf("ended: %+v %+v", got, got.Outcome)
		}

		answeredOnce(w, "POST", at+"/queue/hold")
		m = answered[web.MessageResult](w, 200, "POST", at+"/messages", steer)
		if m.Status != string(protocol.SendQueued) || !strings.Contains(m.Reason, "the queue is held") {
			t.Errorf("held: %+v", m)
		}
	})
}

// answeredOnce sends a request without a body, on any goroutine.
func answeredOnce(w *testServer, method, path string) {
	if status, text := w.post(method, path, ""); status != 200 {
		w.t.Errorf("%s %s: %d %s", method, path, status, text)
	}
}

func TestASessionIsExportedAsADocument(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		at := "/api/sessions/" + w.runTurn("slow")
		synctest.Wait()
		time.Sleep(time.Minute)
		for format, want := range map[string]string{
			"": "at last", "md": "at last", "html": "at last</div>",
			"jsonl": `"type":"turn.ended"`, "asciicast": `"o","last"`,
		} {
			path := at + "/export"
			if format != "" {
				path += "?format=" + format
			}
			resp := w.request("GET", path)
			b, err := io.ReadAll(resp.Body)
			must(t, err)
			if resp.StatusCode != 200 || !strings.Contains(string(b), want) ||
				resp.Header.Get("Content-Security-Policy") != "sandbox" ||
				resp.Header.Get("Content-Disposition") != "attachment" {
				t.Errorf("%s: %d %v %s", format, resp.StatusCode, resp.Header, b)
			}
		}
	})
}
