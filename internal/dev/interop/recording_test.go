//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
)

// wireRecordings has conversations of agents in both versions of the protocol: the tests of
// server/agent/acp play them.
const wireRecordings = "../../../server/agent/acp/testdata/wire"

// TestRecordVersions writes the recordings, if the flag -record is set.
func TestRecordVersions(t *testing.T) {
	if !*record {
		return
	}
	for _, a := range []realAgent{claudeAgent, codexAgent} {
		for version := 1; version <= 2; version++ {
			a.acp = version
			t.Run(fmt.Sprintf("%s/%d", a.name, version), func(t *testing.T) {
				r := newTestSession(t, &a, modelScript(&a))
				r.waitEvent(protocol.AgentOptions)
				r.converse()
				r.saveConversation()
			})
		}
	}
}

// converse has a turn of each kind.
func (r *testSession) converse() {
	r.t.Helper()
	decide := func(message string, decision protocol.Decision) {
		r.t.Helper()
		r.send(message)
		var a protocol.Approval
		r.decode(r.waitEvent(protocol.ApprovalRequested), &a)
		r.approve(protocol.ApproveData{Request: a.Request, Decision: decision})
		r.waitEvent(protocol.TurnEnded)
	}
	r.send("good morning")
	r.waitEvent(protocol.TurnEnded)
	decide("run touch made.txt; echo hi; sleep 1; exit 3", protocol.AllowOnce)
	decide("write "+filepath.Join(r.cwd, "new.txt"), protocol.AllowOnce)
	decide("edit "+filepath.Join(r.cwd, "new.txt"), protocol.AllowOnce)
	decide("run echo no > denied.txt", protocol.Deny)
	r.send("fail")
	r.waitEvent(protocol.TurnEnded)
	r.drip()
	r.do(protocol.DoInterrupt, protocol.InterruptData{}, &protocol.InterruptResult{})
	r.waitEvent(protocol.TurnEnded)
}

func (r *testSession) saveConversation() {
	r.t.Helper()
	var b strings.Builder
	for _, f := range readFrames(r.t, r.frames) {
		f.Line = shorten(strings.NewReplacer(r.cwd, "/w", r.home, "/home/agent").Replace(f.Line))
		line, err := json.Marshal(f)
		if err != nil {
			r.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	file := fmt.Sprintf("%s-%s-v%d.jsonl", r.agent.title, installedVersion(r.t, r.agent.npm), r.agent.acp)
	err := os.MkdirAll(wireRecordings, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(wireRecordings, file), []byte(b.String()), 0o644)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// shorten returns a long line with fewer items in its lists and shorter texts.
func shorten(line string) string {
	var v any
	if len(line) < 2000 || json.Unmarshal([]byte(line), &v) != nil {
		return line
	}
	return string(protocol.MustEncode(shorter(v)))
}

func shorter(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ToValidUTF8(v[:min(len(v), 200)], "")
	case []any:
		v = v[:min(len(v), 4)]
		for i := range v {
			v[i] = shorter(v[i])
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = shorter(v[name])
		}
	}
	return v
}
