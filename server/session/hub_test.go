package session

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

// board keeps the newest line of each key.
type board struct{ lines map[string]string }

func (b *board) Tell(key string, line []byte) { b.lines[key] = string(line) }

func TestWatchersAreToldWhatTheListSays(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *rig) {
		w := &board{map[string]string{}}
		r.hub.Watch(w)
		id := asking(r, protocol.Approval{Kind: protocol.ApproveQuestion, Title: "?"})
		agree := func(status protocol.Status) {
			t.Helper()
			r.settle()
			list := r.hub.List(true)
			told := decodeLines(t, []byte(w.lines["summary "+id]))
			if len(told) != 1 || !bytes.Equal(told[0].Data, protocol.MustEncode(list[0])) || list[0].Status != status {
				t.Errorf("told %s, list %s, want %s", w.lines, protocol.MustEncode(list), status)
			}
		}
		agree(protocol.Waiting)
		if r.hub.Busy() != 1 {
			t.Error("not busy")
		}
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})))
		agree(protocol.Running)
		r.agents.run().finish(End{}, nil)
		agree(protocol.Idle)
		time.Sleep(2 * time.Minute)
		agree(protocol.Idle)
		r.kill()
		w = &board{map[string]string{}}
		r.hub.Watch(w)
		if l := r.hub.List(true); len(l) != 1 || l[0].Status != protocol.Idle {
			t.Errorf("after a restart: %+v", l)
		}
		must[protocol.Empty](r, r.do(anna, command(protocol.DoClose, id, protocol.CloseData{Delete: true})))
		told := decodeLines(t, []byte(w.lines["summary "+id]))
		if len(told) != 1 || !bytes.Contains(told[0].Data, []byte(`"deleted":true`)) || len(r.hub.List(true)) != 0 {
			t.Errorf("after the session was deleted: %s", w.lines)
		}
	})
}

func TestASessionIsFoundByIDNameAndPrefix(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *rig) {
		a := must[protocol.CreateResult](r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{Name: "box"}))).Session
		b := r.create()
		for name, want := range map[string]string{a: a, "box": a, a[:12]: a, a[2:12]: a, b[2:]: b} {
			if got, err := r.hub.Resolve(name); got != want {
				t.Errorf("%s is %s, %v", name, got, err)
			}
		}
		for name, code := range map[string]protocol.Code{"": protocol.CodeNoSession, "s_": protocol.CodeAmbiguous, "bo": protocol.CodeNoSession} {
			if _, err := r.hub.Resolve(name); protocol.CodeOf(err) != code {
				t.Errorf("%q: %v", name, err)
			}
		}
		refused(r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{Name: "box"})), protocol.CodeNameTaken)
		for _, bad := range []string{" x", "s_x", "a\nb", strings.Repeat("x", 200), "\x00"} {
			refused(r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{Name: bad})), protocol.CodeInvalidMessage)
		}
		r.agents.refuse = protocol.Errorf(protocol.CodeNoAgent, "none")
		refused(r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{Name: "fox"})), protocol.CodeNoAgent)
		r.agents.refuse = nil
		must[protocol.CreateResult](r, r.do(anna, command(protocol.DoCreate, "", protocol.CreateData{Name: "fox"})))
	})
}
