//go:build unix

package script

import (
	"syscall"
	"testing"

	"agentctl/server/agent"
)

func TestASpawnedProgramIsRecordedAndEndsWithTheAgent(t *testing.T) {
	script := parse(t, `{"on":"*"}`, `{"spawn":["sleep","600"]}`)
	st := &fakeSession{}
	a, err := script.Open(agent.Spec{CWD: t.TempDir(), Env: map[string]string{"A": "b"}}, st)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), newTurn(1, ""), st); err != nil {
		t.Fatal(err)
	}
	if len(st.groups) != 1 || st.groups[0].Start == "" {
		t.Fatalf("%+v", st.groups)
	}
	pid := st.groups[0].PID
	if err := syscall.Kill(-pid, 0); err != nil {
		t.Errorf("the program does not run: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(-pid, 0); err == nil {
		t.Error("the program still runs")
	}
	if len(st.groups) != 2 || !st.groups[1].Ended || st.groups[1].PID != pid {
		t.Errorf("%+v", st.groups)
	}
}

func TestAProgramThatIsNotThereFailsTheTurn(t *testing.T) {
	if _, _, err := runScript(t, `{"spawn":["/no/such/program"]}`); err == nil {
		t.Error("no error")
	}
}
