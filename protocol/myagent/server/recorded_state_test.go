//go:build replay

package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol/myagent/wire"
)

// Every state that the real system exported has the checksum and the signature that agentctl
// computes. A state that a client changed does not.
func TestRecordedStatesAreVerified(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("AGENTCTL_RECORDINGS"), wire.Name, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("AGENTCTL_RECORDINGS must name the directory of the recordings: %v", err)
	}
	exported, refused := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var step struct{ Frame string }
			if err := json.Unmarshal(lines.Bytes(), &step); err != nil {
				t.Fatal(err)
			}
			m, _ := wire.DecodeMessage([]byte(step.Frame))
			raw := m.Signed
			if m.Event == wire.AgentStateExported {
				raw = myagenttest.MetaOf(m)["signed_state"]
			}
			if len(raw) == 0 {
				continue
			}
			at := time.Unix(wire.ParseObject(raw).Int("timestamp"), 0)
			_, err := verifyState(raw, at, wire.DefaultStateTTL, pythonSign)
			if strings.HasPrefix(err.Error(), "not a state of this server") {
				exported++ // all else is verified before
				continue
			}
			refused++
			if m.Event == wire.AgentStateExported {
				t.Errorf("%s: %v: %s", filepath.Base(file), err, raw)
			}
		}
	}
	if exported < 10 || refused != 2 {
		t.Errorf("%d states verified, %d refused, want 10 or more and 2", exported, refused)
	}
}
