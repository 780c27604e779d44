package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/pipeline"
)

func TestPipelinesAreChecked(t *testing.T) {
	for want, c := range map[string]pipeline.Config{
		"name an agent as planner, solver or aggregator": {},
		"no agent is called":                             {Planner: "nobody-at-all"},
		"its agents cannot be pipel":                     {Solver: "team"},
		"parallel: want 1 to 64":                         {Solver: "coder", Parallel: 65},
		"max_tasks: want 1 to 200":                       {Solver: "coder", MaxTasks: 201},
		"":                                               {Planner: "coder", Solver: "acp:some agent"},
	} {
		r := &Registry{Configured: map[string]Config{
			"coder": {Config: llm.Config{Model: "openai/gpt-5.5"}},
			"team":  {Pipeline: &c},
		}}
		err := r.CheckConfigured()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
	r := &Registry{Configured: map[string]Config{"team": {Command: "x", Pipeline: &pipeline.Config{Solver: "llm"}}}}
	if err := r.CheckConfigured(); err == nil {
		t.Error("a command that is a pipeline")
	}
}

func TestAPipelineIsAsReadyAsTheLeastOfItsAgents(t *testing.T) {
	noKeys(t)
	file := filepath.Join(t.TempDir(), "a.script")
	if err := os.WriteFile(file, []byte(`{"on":"*"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Registry{Configured: map[string]Config{
		"coder":   {Config: llm.Config{Model: "openai/gpt-5.5"}},
		"demo":    {Script: file},
		"missing": {Command: "no-such-program"},
		"ready":   {Pipeline: &pipeline.Config{Solver: "demo"}},
		"keyless": {Pipeline: &pipeline.Config{Solver: "demo", Planner: "coder"}},
		"absent":  {Pipeline: &pipeline.Config{Solver: "missing", Planner: "demo"}},
	}}
	x := &Inspector{
		Registry: r, Env: func(string) string { return "" },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
	}
	if i := x.Inspect("ready"); !i.Installed || i.Pipeline != "demo" || i.Login != "" {
		t.Errorf("%+v", i)
	}
	if i := x.Inspect("keyless"); i.Login != LoginMissing || !strings.HasPrefix(i.LogIn, "coder: ") {
		t.Errorf("%+v", i)
	}
	if i := x.Inspect("absent"); i.Installed || i.Program != "no-such-program" {
		t.Errorf("%+v", i)
	}
	_, err := r.Find("ready")
	if protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), "demo") {
		t.Error(err)
	}
}

func TestTheCapabilitiesOfAPipelineAreThoseOfAllItsAgents(t *testing.T) {
	r := &Registry{Configured: map[string]Config{
		"coder": {Config: llm.Config{Model: "openai/gpt-5.5"}, Env: map[string]string{"OPENAI_API_KEY": "k"}},
		"one":   {Pipeline: &pipeline.Config{Solver: "coder"}},
		"two":   {Pipeline: &pipeline.Config{Solver: "coder", Planner: "acp:some agent"}},
	}}
	for name, want := range map[string]bool{"one": true, "two": false} {
		opened, err := r.Open(agent.Spec{Agent: name}, &turnHost{})
		if err != nil {
			t.Fatal(err)
		}
		c := opened.Capabilities()
		_, explains := opened.(agent.Explainer)
		if explains != want || c.TakesPatch != want || c.TakesCommand != want {
			t.Errorf("%s: explains %v, %+v", name, explains, c)
		}
		if !c.RunsPlans || !c.ContinuesPlans || !c.TakesReason {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
